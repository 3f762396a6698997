/** How a cycle goes and ends: built, judged, failed, handed back, put off, suspended. */
import type { Json } from "@loopledger/shared/core/json";
import { type Refusal, refuse } from "../rows.ts";
import {
  askAfterIteration, askAtCompletion, askAtCost, askOnFailure, endAs, failsAgain, failUnknown, giveUp, goOn, owing, oweBuild, oweReview,
} from "./following.ts";
import { derivedId, digestOf, goalDigest } from "./hashing.ts";
import type { Rules } from "./rule.ts";
import type { Case, Dispatch } from "./session.ts";
import { rootId } from "./tree.ts";

type CycleType = "built" | "cycle_failed" | "handed_back" | "retry" | "step" | "status" | "check";
const suspensions: ReadonlySet<string | null> = new Set(["handler_missing", "check_changed", "evidence_missing", "budget_exhausted"]);

export const cycleRules: Rules<CycleType> = {
  built: {
    refuses: unsettledFirst,
    applies(c) {
      const { session, record } = c;
      const cost = session.purse.costUsd;
      const open = close(c);
      session.purse.spend(record.data.usage);
      session.recheckedSinceBuild = false;
      session.checkTries = 0;
      session.failures.build = [];
      session.builtBy = record.actor.id;
      session.lastBuiltSeq = session.seq;
      for (const name of [...session.steps.keys()]) if (name.startsWith(`${open.leaf}\n`)) session.steps.delete(name);
      session.done.delete(open.leaf);
      session.tree.mark(open.leaf, "unverified", session.seq);
      oweReview(c, open.leaf);
      askAtCost(c, cost);
    },
  },
  cycle_failed: {
    refuses: (c) => unsettledFirst(c) ?? otherDispatch(c, c.record.data.dispatch),
    applies(c) {
      const { data } = c.record;
      const cost = c.session.purse.costUsd;
      close(c);
      c.session.purse.spend(data.usage);
      const trips = failsAgain(c, "build", { print: data.fingerprint, improves: false });
      if (data.terminal && data.class === "transient") return giveUp(c, "retries_exhausted");
      if (data.terminal || trips) return giveUp(c, "deterministic_error");
      goOn(c);
      askAfterIteration(c);
      askOnFailure(c, { major: false, why: data.message });
      askAtCost(c, cost);
    },
  },
  handed_back: {
    refuses: (c) => otherDispatch(c, c.record.data.dispatch),
    applies({ session }) {
      session.owner = null;
    },
  },
  retry: {
    refuses({ session, record }) {
      const { attempt, errorClass } = record.data;
      const most = session.submission?.bounds.retryAttempts ?? 0;
      if (errorClass === "deterministic") return refuse("forbidden", "B5", "a deterministic error is not tried again");
      if (attempt !== (session.open?.retries ?? 0) + 1 || attempt > most) return refuse("forbidden", "B5", `try ${attempt} after ${session.open?.retries} of ${most}`);
      return null;
    },
    applies({ session, record, entry }) {
      const { attempt, delay_seconds, error } = record.data;
      session.timers.push({ armedBy: record.eventId, kind: "retry", dueAt: entry.time + delay_seconds * 1000, checkpoint: null });
      session.purse.rest();
      if (!session.open) return;
      session.open.retries = attempt;
      session.open.lastError = error;
    },
  },
  step: {
    refuses(c) {
      const known = c.session.steps.get(stepName(c));
      if (known === undefined) return null;
      return known === c.record.data.inputDigest ? refuse("duplicate", "T2", "the step is recorded already") : refuse("key_conflict", "T2", "the step has another input");
    },
    applies(c) {
      c.session.steps.set(stepName(c), c.record.data.inputDigest);
    },
  },
  status: {
    refuses({ session, record }) {
      const { disposition, reason } = record.data;
      if (disposition === "failed" && reason === "incomplete_tool_turn") {
        return session.leftBehind.length > 0 ? null : refuse("not_owed", "E4", "no unknown outcome of a former owner");
      }
      if (disposition !== "waiting" || !suspensions.has(reason)) return refuse("forbidden", "X1", `an owner does not say ${disposition}`);
      return session.unsettled.size > 0 ? refuse("suspended", "E11", "a suspension over an unsettled intent") : null;
    },
    applies(c) {
      const { disposition, reason, error, detail } = c.record.data;
      if (disposition === "failed" || reason === null) return failUnknown(c);
      c.session.suspension = { reason, error, detail: detail ?? null, since: c.entry.time };
      c.session.owner = null;
    },
  },
  check: {
    refuses: (c) => unsettledFirst(c) ?? unfitCheck(c),
    applies(c) {
      const { session, record } = c;
      const { data } = record;
      const cost = session.purse.costUsd;
      const open = close(c);
      session.purse.spend(data.usage);
      if (!session.pins.has(data.check)) session.pins.set(data.check, data.checkDigest);
      session.verdict = {
        eventId: record.eventId, verdict: data.verdict, evidence: data.evidence, next_steps: data.next_steps as readonly Json[], revision: data.revision,
        leaf: open.leaf, actor: record.actor.id, seq: session.seq,
      };
      judged(c, open);
      askAtCost(c, cost);
    },
  },
};

const stepName = ({ session, record }: Case<"step">): string => `${session.open?.leaf ?? ""}\n${record.data.name}`;

function unsettledFirst({ session, record }: Case): Refusal | null {
  return session.unsettled.size === 0 ? null : refuse("suspended", "E11", `${record.type} over unsettled ${[...session.unsettled].join(", ")}`);
}
function otherDispatch({ session, record }: Case, named: string): Refusal | null {
  return named === session.open?.eventId ? null : refuse("not_owed", "F5", `${record.type} names ${named}, which is not open`);
}
function unfitCheck({ session, record }: Case<"check">): Refusal | null {
  const { check, checkDigest } = record.data;
  const wanted = session.tree.checkOf(session.open?.leaf ?? rootId);
  if (check !== wanted) return refuse("forbidden", "C1", `${check} judges where ${wanted} has to`);
  const pinned = session.pins.get(check);
  if (pinned !== undefined && pinned !== checkDigest) return refuse("forbidden", "C1", `${check} is another one than the one that was pinned`);
  return session.builtBy === record.actor.id ? refuse("forbidden", "C2", `${record.actor.id} judges its own work`) : null;
}

/** The dispatch is over; a retry of it is disarmed. */
function close({ session }: Case): Dispatch {
  const { open } = session;
  if (!open) throw new RangeError("no open dispatch");
  session.open = null;
  session.timers = session.timers.filter((timer) => timer.kind !== "retry");
  return open;
}

function judged(c: Case<"check">, open: Dispatch): void {
  const { session } = c;
  const { verdict, next_steps: steps } = c.record.data;
  const blocked = verdict === "PASS" && session.gaps.size > 0;
  if (blocked) session.blockedPasses.add(c.record.eventId);
  if (blocked || verdict === "INCONCLUSIVE") {
    undecided(c, open);
    return;
  }
  if ((verdict === "PASS") !== (steps.length === 0)) {
    if (!session.awaitsFirstCheck) session.tree.mark(open.leaf, "unverified");
    giveUp(c, "contradictory_verdict");
    return;
  }
  session.checkTries = 0;
  if (verdict === "PASS") passed(c, open);
  else failed(c, open);
}

function undecided(c: Case<"check">, open: Dispatch): void {
  const { session, record, entry } = c;
  session.checkTries += 1;
  if (!session.awaitsFirstCheck) session.tree.mark(open.leaf, "unverified");
  if (session.checkTries >= (session.submission?.bounds.checkTries ?? 1)) {
    giveUp(c, "check_unavailable");
    return;
  }
  session.timers.push({ armedBy: record.eventId, kind: "check", dueAt: entry.time + 1000 * 2 ** (session.checkTries - 1), checkpoint: null });
}

function passed(c: Case<"check">, open: Dispatch): void {
  const { session, record } = c;
  const { data } = record;
  if (session.awaitsFirstCheck) {
    for (const node of session.tree.nodes) session.tree.mark(node.id, "verified", session.seq);
    session.awaitsFirstCheck = false;
    endAs(c, { disposition: "done", reason: "no_mutation_owed" });
    return;
  }
  session.failures.check = [];
  session.remaining = null;
  session.tree.mark(open.leaf, "verified", session.seq);
  if (open.leaf !== rootId) {
    goOn(c);
    askAfterIteration(c);
    return;
  }
  session.owed = owing(c, "receipt", {
    goalDigest: session.submission?.digest ?? "", check: { name: data.check, digest: data.checkDigest }, pinned: data.pinned, revision: data.revision,
    evidenceDigest: digestOf(data.evidence),
  });
  askAtCompletion(c);
}

function failed(c: Case<"check">, open: Dispatch): void {
  const { session, record } = c;
  const { tree } = session;
  const [first] = record.data.next_steps;
  if (session.awaitsFirstCheck) {
    session.awaitsFirstCheck = false;
    if (tree.isSingle && typeof first === "string") tree.at(rootId).task = first;
    goOn(c);
    return;
  }
  if (open.leaf === rootId && !tree.isSingle && !session.recheckedSinceBuild) {
    for (const node of tree.nodes) if (node.status === "verified") node.status = "unverified";
    session.recheckedSinceBuild = true;
    goOn(c);
    return;
  }
  const left = remainingOf(record.data.evidence);
  const improves = left !== null && session.remaining !== null && left < session.remaining;
  const trips = failsAgain(c, "check", { print: `${open.leaf}:${record.data.fingerprint ?? digestOf(first)}`, improves });
  session.remaining = left;
  const node = tree.at(open.leaf);
  if (typeof first === "string") node.task = first;
  tree.mark(open.leaf, "needs-rework", session.seq);
  if (trips) {
    giveUp(c, "no_progress");
    return;
  }
  if (typeof first === "object") {
    oweChild(c, first.goal);
    return;
  }
  oweBuild(c, open.leaf, node.task);
  askAfterIteration(c);
  askOnFailure(c, { major: false, why: node.task });
}

function remainingOf(evidence: Json): number | null {
  const left = evidence !== null && typeof evidence === "object" && !Array.isArray(evidence) ? (evidence as Readonly<Record<string, Json>>)["remaining"] : null;
  return typeof left === "number" ? left : null;
}

/** A next step that is itself a goal: a child within the bounds, or its refusal. */
function oweChild(c: Case, goal: Readonly<Record<string, unknown>>): void {
  const { session, record } = c;
  const bounds = session.submission?.bounds.children ?? { depth: 0, width: 0, total: 0 };
  const depth = (session.submission?.parent?.depth ?? 0) + 1;
  const open = [...session.children.values()].filter((child) => child.open).length;
  const reached = { depth: depth > bounds.depth, width: open >= bounds.width, total: session.children.size >= bounds.total };
  const bound = (["depth", "width", "total"] as const).find((one) => reached[one]);
  const digest = goalDigest(goal);
  if (bound) session.owed = owing(c, "child_refused", { goalDigest: digest, bound, limit: bounds[bound] });
  else {
    const child = `c-${derivedId(session.id, record.eventId, "child").slice(0, 32)}`;
    session.owed = owing(c, "child_opened", { child, goalDigest: digest, depth, carved: {} });
  }
}
