/**
 * A walk: small moves that write valid and hostile records into a story, whatever it has come to.
 * A move is a name and two numbers, so that a property library can shrink it and a seed can print it.
 */
import type { Epoch, EventId, OwnerId } from "../core/brand.ts";
import type { LedgerRecord } from "../core/events/envelope.ts";
import type { Goal } from "../core/events/goal.ts";
import { values } from "../core/session/persistent-map.ts";
import { claim, dispatchAhead, fired, own, person, recordOfDraft, scheduler } from "./acts.ts";
import { asks, fails, inconclusive, passes } from "./journeys.ts";
import { dataDefaults } from "./data.ts";
import { type Act, type Story, written } from "./story.ts";

export interface Move { readonly name: MoveName; readonly a: number; readonly b: number }
type Play = (story: Story, a: number, b: number) => void;

const from = <T>(list: readonly T[], at: number): T => list[at % list.length] as T;
const owners = ["A", "B", "C"];
const toolKeys = ["k1", "k2", "k3"];
const contracts = ["none", "idempotent", "lookup", "unsafe"] as const;
const play = (act: Act, story: Story): void => void story.append(act);
/** Writes what is owed, or nothing where nothing is. */
const slots = ({ state }: Story): LedgerRecord[] => [state.owed, state.requestOwed, state.statusOwed].flatMap((slot) => (slot ? [recordOfDraft(slot)] : []));

function ownerAct(a: number, b: number): Act {
  const key = from(toolKeys, b);
  const acts: Act[] = [
    own("built"), passes(), fails({ next_steps: [`task ${b % 3}`], evidence: {} }), inconclusive(), passes({ next_steps: ["more"] }),
    fails({ next_steps: [{ goal: { goal: "part", maker: "agent", check: "tests" } }] }),
    asks(key, { contract: from(contracts, a + b), fences: b % 2 === 0, callWindowSeconds: 5 }), own("tool_result", { key, outcome: b % 3 ? "confirmed" : "failed" }),
    own("reconciled", { key, outcome: b % 2 ? "happened" : "did_not_happen" }), own("retry", { attempt: 1 + (b % 3) }),
    own("cycle_failed", { fingerprint: `f${b % 2}`, terminal: b % 7 === 0, class: b % 2 ? "deterministic" : "transient" }), own("handed_back"),
    own("reserved", { id: `r${b % 4}`, amounts: { costUsd: b % 3 } }), own("model", { usage: { costUsd: 1, reservation: `r${b % 4}` } }),
    own("status", { disposition: "failed", reason: "incomplete_tool_turn", error: null }),
    own("status", { disposition: "waiting", reason: from(["handler_missing", "check_changed"] as const, b), error: null }),
    own("grounding", { scope: `s${b % 2}`, outcome: from(["observed", "partial", "failed"] as const, b) }), own("step", { name: `step ${b % 3}` }),
    own("approval_requested", { checkpoint: `cp-${b % 3}`, expires: b % 2 ? 5 : null }), own("error"),
  ];
  return from(acts, a);
}

function personAct(a: number, b: number): Act {
  const decisions = ["APPROVE", "REJECT", "RETRY", "MODIFY", "PAUSE"] as const;
  const acts: Act[] = [
    person("pause_requested", { now: b % 2 === 0 }), person("resumed"), person("resumed"), person("budget_raised", { iterations: 1, costUsd: 2 }), person("guidance"),
    person("checkpoint_requested"), (story) => written(story, person("approval_decided", decide(story, { decision: from(decisions, b), b }), "boss")),
    person("reconciled", { key: from(toolKeys, b), outcome: b % 2 ? "happened" : "did_not_happen" }), person("error"),
    ...(b % 5 === 0 ? [person("cancel_requested")] : []),
  ];
  return from(acts, a);
}
function decide({ state }: Story, by: { decision: "APPROVE" | "REJECT" | "RETRY" | "MODIFY" | "PAUSE"; b: number }) {
  const known = values(state.checkpoints).filter((one) => state.pending.includes(one.id));
  const found = known.length > 0 ? from(known, by.b) : null;
  const action = by.decision === "MODIFY" ? { action: { task: `changed ${by.b}` } } : {};
  return { checkpoint: found?.id ?? `cp-${by.b % 3}`, digest: found?.digest ?? dataDefaults.approval_decided().digest, decision: by.decision, ...action };
}

/** One thing about a record that is not as it should be. */
function spoilt(record: LedgerRecord, b: number): LedgerRecord {
  const wrong: Partial<Record<string, unknown>>[] = [
    { epoch: ((record.epoch ?? 1) + 1 + (b % 3)) as Epoch }, { epoch: 1 as Epoch }, { ownerId: "Z" as OwnerId }, { n: (record.n ?? 0) + 1 }, { n: 1 }, { epoch: undefined },
    { cause: { eventId: "elsewhere" as EventId } }, { cause: undefined }, { eventId: `made-up-${b}` as EventId }, { actor: { kind: "maker", id: "agent@sha256:1" } },
    { sessionId: "another" }, { typeVersion: 0 }, { data: {} }, { at: 3 },
  ];
  return { ...record, ...from(wrong, b) } as LedgerRecord;
}

/** What somebody who means well does next: the fitting record for what the session waits for. */
function sensible(story: Story, a: number, b: number): Act | null {
  const { state } = story;
  if (state.statusOwed) return recordOfDraft(state.statusOwed);
  if (state.unsettled.length > 0 && state.end) return person("reconciled", { key: state.unsettled[0] as string, outcome: b % 2 ? "happened" : "did_not_happen" });
  if (state.end) return state.end.disposition === "handed_off" ? person("resumed") : null;
  if (state.requestOwed) return recordOfDraft(state.requestOwed);
  if (state.pending.length > 0 && b % 3 > 0) return person("approval_decided", decide(story, { decision: from(["APPROVE", "APPROVE", "MODIFY", "RETRY", "REJECT"] as const, b), b }), "boss");
  if (state.pause || state.suspension) return person("resumed");
  if (state.timers.length > 0 && b % 2) return fired(from(state.timers, a).kind);
  if (state.owed) return b % 6 === 0 ? person("budget_raised", { iterations: 1, costUsd: 1 }) : recordOfDraft(state.owed);
  const child = Object.values(state.children).find((one) => one.open);
  if (child) return scheduler("child_closed", { child: child.id, spent: { costUsd: b % 2 } });
  return state.open ? atWork(story, a, b) : null;
}
/** The owner's next record, mostly; else a claim. */
function atWork({ state }: Story, a: number, b: number): Act {
  const { open, owner } = state;
  if (!open || !owner?.serves.includes(open.cycle) || b % 9 === 0) return claim(from(owners, a), { serves: ["build", "review"] });
  const check = state.submission?.plan.find((node) => node.id === open.leaf)?.check ?? "tests";
  if (open.cycle === "review") {
    return from([passes({ check }), passes({ check }), fails({ check, next_steps: [`task ${b % 9}`], evidence: {} }), inconclusive({ check }), own("model"), ownerAct(a, b)], a);
  }
  const [key] = state.unsettled;
  if (key !== undefined) return from([own("tool_result", { key, outcome: b % 3 ? "confirmed" : "failed" }), own("reconciled", { key, outcome: b % 2 ? "happened" : "did_not_happen" }), own("retry", { attempt: open.retries + 1 })], a);
  return from([own("built"), own("built"), asks(`k${state.seq}`, { contract: from(contracts, b), fences: a % 2 === 0, callWindowSeconds: 5 }), own("retry", { attempt: open.retries + 1 }), ownerAct(a, b)], a);
}

const plays = {
  step: (story, a, b) => {
    const act = sensible(story.wait(b % 4 === 0 ? 70_000 : 0), a, b);
    if (act) story.append(act);
  },
  derived: (story, a) => {
    const owedNow = slots(story);
    if (owedNow.length > 0) story.append(from(owedNow, a));
  },
  claim: (story, a) => play(claim(from(owners, a), { serves: from([["build", "review"], ["build"], ["review"]] as const, a >> 2) }), story),
  owner: (story, a, b) => play(ownerAct(a, b), story),
  person: (story, a, b) => play(personAct(a, b), story),
  timer: (story, a) => {
    const { timers } = story.state;
    if (timers.length > 0) play(fired(from(timers, a).kind), story.wait(a % 2 ? 120_000 : 0));
  },
  again: (story, a) => {
    const old = story.entries.length > 0 ? from(story.entries, a) : null;
    if (old) story.appendText(old.text);
  },
  child: (story, a) => {
    const child = Object.keys(story.state.children).at(-1) ?? "none";
    play(scheduler("child_closed", { child: child as never, disposition: from(["done", "failed", "waiting"] as const, a), spent: { costUsd: a % 3 } }), story);
  },
  /** A batch whose second half was written before anybody judged the first. */
  batch: (story, a) => {
    const built = written(story, from([own("built"), fails({ next_steps: ["next"] }), own("built", {}, { ownerId: "Z" as OwnerId })], a));
    const review = built.type === "built";
    const ahead = written(story, dispatchAhead(built.eventId, {
      cycle: review ? "review" : "build", leaf: "goal", iteration: story.state.iteration + (review ? 0 : 1), task: review ? (story.state.open?.task ?? "") : "next",
    }));
    story.append(built).append(ahead);
  },
  spoilt: (story, a, b) => {
    const sources: Act[] = [ownerAct(a, b), claim("A"), personAct(a, b), ...slots(story)];
    play(spoilt(written(story, from(sources, a)), b), story);
  },
  farClaim: (story, a) => play(claim("Z", { epoch: story.state.epoch + 2 + (a % 1000) }), story),
  garbage: (story, a) => void story.appendText(from(["", "{", "null", "[]", '{"v":1}', '{"hello":"world"}', "[[[[[[".repeat(200)], a)),
  misplaced: (story, a, b) => void story.append(personAct(a, b), { partition: 1 }),
  unsigned: (story, a, b) => void story.append(personAct(a, b), { verified: "no" }),
} as const satisfies Record<string, Play>;

export type MoveName = keyof typeof plays;
export const moveNames = Object.keys(plays) as MoveName[];
/** Moves that mean well: with these a story gets far. */
export const goodMoves: readonly MoveName[] = [...Array<MoveName>(24).fill("step"), "derived", "owner", "owner", "claim", "timer", "person", "batch", "child"];

export function makeMove(story: Story, move: Move): void {
  (plays[move.name] as Play)(story, move.a, move.b);
}

/** Goals of several kinds for a walk to begin from. */
export const walkGoals: readonly Partial<Goal>[] = [
  {},
  { policy: { failureFirst: false } },
  { policy: { failureFirst: false, breaker: { same: null }, approvals: [{ everyIterations: 2, expiresSeconds: 5 }, { onFailure: "any" }, { costUsd: 3 }] } },
  { leaves: [{ id: "a", title: "A" }, { id: "b", title: "B", after: ["a"], leaves: [{ id: "c", title: "C" }] }], policy: { failureFirst: false } },
  { policy: { failureFirst: false, approvals: [{ before: "deploy" }, { onPlanComplete: true, expiresSeconds: 5 }, { onFailure: "major" }] } },
  { budget: { iterations: 2, costUsd: 4, wallSeconds: 200 }, policy: { failureFirst: false } },
];
