/**
 * Goal programs: what makers do in each iteration and what checks say to it, and with that how the session must end and
 * which intended actions must have been applied by then, whatever goes wrong on the way.
 */
import { type Goal, goal } from "@loopledger/shared/core/events/goal";
import type { Reason } from "@loopledger/shared/core/events/fields";
import type { Draw } from "./draw.ts";
import type { ActionPlan, Door, Expected, IterationPlan, PersonAct, ReviewPlan, SessionPlan, Wording } from "./plan.ts";

const fates = { done: 12, "comes-back": 1, green: 1, "no-progress": 1, broken: 1, exhausted: 1, unavailable: 1, contradiction: 1, budget: 2, "no-budget": 1 } as const;
type Fate = keyof typeof fates;
const handedOff: Readonly<Partial<Record<Fate, Reason>>> = {
  "no-progress": "no_progress", broken: "deterministic_error", exhausted: "retries_exhausted", unavailable: "check_unavailable", contradiction: "contradictory_verdict",
};

/** Everything about one session that is drawn before its script is written. */
interface Character {
  readonly id: string;
  readonly fate: Fate;
  readonly wording: Wording;
  readonly external: boolean;
  readonly leaves: readonly string[];
  readonly failureFirst: boolean;
  readonly costs: boolean;
  readonly protectedDoor: Door | null;
  readonly protected: SessionPlan["protected"];
}

export function sessionOf(draw: Draw, index: number): SessionPlan {
  const character = characterOf(draw, `s${index}`);
  const script = new Script(draw.fork("script"), character);
  script.write();
  const limit = character.fate === "budget" || character.fate === "no-budget" ? draw.between(1, script.iterations.length) : null;
  const submittedAt = draw.between(0, 1_500);
  return {
    id: character.id, goal: goalOf(draw, character, limit), wording: character.wording, external: character.external,
    submittedAt: draw.chance(0.2) ? [submittedAt, submittedAt + draw.between(0, 40)] : [submittedAt],
    mixedUpAt: draw.chance(0.1) ? submittedAt + draw.between(0, 400) : null,
    iterations: script.iterations, reviews: script.reviews, acts: actsOf(draw.fork("acts")), protected: character.protected,
    contradicts: draw.chance(0.3), points: draw.chance(0.5), hesitates: draw.chance(0.3), raise: character.fate === "no-budget" ? 0 : draw.between(1, 2), expected: expectedOf(character, script, limit),
  };
}

function characterOf(draw: Draw, id: string): Character {
  const external = draw.chance(0.12);
  const wording = external ? "stable" : draw.weighted({ stable: 3, careful: 4, forgetful: 2, keyed: 2 });
  const fate = draw.weighted(external ? { ...fates, broken: 0 } : fates);
  const protects = !external && draw.chance(0.2);
  const protectedDoor = protects ? draw.pick(["idempotent", "fenced", "windowed", "unsafe-fenced"] as const) : null;
  const decision = draw.weighted({ APPROVE: 4, REJECT: 1, MODIFY: wording === "careful" ? 2 : 0, silence: 1 });
  const leaves = draw.chance(0.6) ? ["goal"] : ["a", "b", "c"].slice(0, draw.between(2, 3));
  return { id, fate, wording, external, leaves, failureFirst: fate === "green" || draw.chance(0.7), costs: !external && draw.chance(0.2), protectedDoor, protected: decision };
}

const pass: ReviewPlan = { verdict: "PASS", nextSteps: [], inconclusiveRuns: 0, redRuns: 0, movedRuns: 0, cannotStart: false, ms: 20 };

/** The iterations and reviews of one session in the order in which they come. */
class Script {
  readonly iterations: IterationPlan[] = [];
  readonly reviews: Record<string, ReviewPlan> = {};
  private readonly draw: Draw;
  private readonly character: Character;

  constructor(draw: Draw, character: Character) {
    this.draw = draw;
    this.character = character;
  }

  write(): void {
    const { fate, leaves, failureFirst } = this.character;
    if (failureFirst) this.reviews["goal/0"] = fate === "green" ? pass : { ...this.review("FAIL", ["begin"]), inconclusiveRuns: 0, cannotStart: this.draw.chance(0.2) };
    if (fate === "green") return;
    for (const leaf of leaves) {
      const last = leaf === leaves.at(-1);
      const builds = this.draw.between(1, leaves.length > 1 ? 2 : 3);
      for (let build = 1; build < builds; build++) this.build(leaf, build, this.review("FAIL", [`${leaf}: what build ${build} left`]));
      if (last) this.finish(leaf, builds);
      else this.build(leaf, builds, this.review("PASS", []));
    }
    if (leaves.length > 1 && handedOff[fate] === undefined) this.complete(leaves);
  }
  /** The goal's own check; where it is red at first, every leaf's check runs again before it does. */
  private complete(leaves: readonly string[]): void {
    const end = this.iterations.length;
    const redRuns = this.draw.chance(0.3) ? 1 : 0;
    this.reviews[`goal/${end}`] = { ...this.review("PASS", []), redRuns };
    for (const leaf of redRuns > 0 ? leaves : []) this.reviews[`${leaf}/${end}`] ??= this.review("PASS", []);
  }

  private finish(leaf: string, build: number): void {
    switch (this.character.fate) {
      case "no-progress":
        for (let again = 0; again < 3; again++) this.build(leaf, build + again, { ...this.review("FAIL", ["the same as before"]), inconclusiveRuns: 0 });
        return;
      case "broken":
        for (let again = 0; again < 3; again++) this.iterations.push({ ...this.iteration(leaf, build), fails: "it is broken", transient: { runs: 0, after: 0 } });
        return;
      case "exhausted":
        this.iterations.push({ ...this.iteration(leaf, build), transient: { runs: 1_000, after: 0 } });
        return;
      case "unavailable":
        this.build(leaf, build, this.review("INCONCLUSIVE", []));
        return;
      case "comes-back":
        this.build(leaf, build, { ...this.review("PASS", []), inconclusiveRuns: 3 });
        return;
      case "contradiction":
        this.build(leaf, build, { ...this.review("PASS", ["and yet"]), inconclusiveRuns: 0 });
        return;
      case "done": case "budget": case "no-budget": case "green":
        this.build(leaf, build, this.review("PASS", []));
    }
  }

  /** A build, now and then after attempts at it that failed for good, and what its check says. */
  private build(leaf: string, build: number, review: ReviewPlan): void {
    const planned = this.iteration(leaf, build);
    const failures = this.character.external || !this.draw.chance(0.15) ? 0 : this.draw.between(1, 2);
    for (let failure = 1; failure <= failures; failure++) {
      this.iterations.push({ ...planned, fails: `no luck ${build}.${failure}`, transient: { runs: 0, after: this.draw.between(0, planned.actions.length) } });
    }
    this.iterations.push(planned);
    this.reviews[`${leaf}/${this.iterations.length}`] = review;
  }
  private iteration(leaf: string, build: number): IterationPlan {
    const { draw, character } = this;
    const count = character.external ? 0 : draw.weighted({ 0: 1, 1: 4, 2: 3, 3: 1 });
    const actions = Array.from({ length: Number(count) }, (_, index) => this.action(`${character.id}/${leaf}/${build}/${index}`));
    const runs = draw.chance(0.12) ? draw.between(1, 2) : 0;
    return {
      leaf, actions, together: draw.chance(0.25), steps: draw.chance(0.3) ? draw.between(1, 2) : 0, makerMs: draw.between(10, 400), costUsd: character.costs ? 1 : 0,
      transient: { runs, after: draw.between(0, actions.length) }, fails: null,
    };
  }
  private action(identity: string): ActionPlan {
    const { draw, character } = this;
    const door = draw.weighted({ read: 2, idempotent: 4, fenced: 4, windowed: 3, unsafe: 1, "unsafe-fenced": 1 });
    return { identity, door, ms: draw.between(5, 300), fails: door !== character.protectedDoor && draw.chance(0.08), large: draw.chance(0.03) };
  }
  private review(verdict: ReviewPlan["verdict"], nextSteps: readonly string[]): ReviewPlan {
    const { draw } = this;
    return {
      verdict, nextSteps, redRuns: 0, inconclusiveRuns: draw.chance(0.1) ? draw.between(1, 2) : 0, movedRuns: draw.chance(0.2) ? 1 : 0,
      cannotStart: false, ms: draw.between(5, 200),
    };
  }
}

function goalOf(draw: Draw, character: Character, limit: number | null): Goal {
  const { id, fate, external, leaves, failureFirst, costs, protectedDoor, protected: decision } = character;
  const approvals = [
    ...(protectedDoor ? [{ before: protectedDoor, ...(decision === "silence" && { expiresSeconds: 2 }) }] : []),
    ...(draw.chance(0.12) ? [{ everyIterations: draw.between(1, 3) }] : []),
    ...(draw.chance(0.1) ? [{ onPlanComplete: true }] : []),
    ...(handedOff[fate] === undefined && draw.chance(0.1) ? [{ onFailure: "any" }] : []),
  ];
  const policy = {
    ...(failureFirst ? {} : { failureFirst: false }), ...(approvals.length > 0 && { approvals }),
    ...(fate === "exhausted" && { retry: { maxAttempts: 2 } }),
  };
  return goal.parse({
    goal: `make ${id} true`, maker: external ? "external" : "maker", check: `check-${id}`, policy,
    ...((limit !== null || costs) && { budget: { ...(limit !== null && { iterations: limit }), ...(costs && { costUsd: draw.between(1, 4) }) } }),
    ...(leaves.length > 1 && { leaves: leaves.map((leaf) => ({ id: leaf, title: `leaf ${leaf}` })) }),
  });
}

const actKinds: Readonly<Record<PersonAct, number>> = { pause: 3, "pause-now": 3, cancel: 3, guidance: 1, checkpoint: 2, advance: 3 };
function actsOf(draw: Draw): SessionPlan["acts"] {
  const count = draw.weighted({ 0: 6, 1: 3, 2: 1 });
  return Array.from({ length: Number(count) }, () => ({ at: draw.between(200, 5_000), kind: draw.weighted(actKinds) }));
}

/** How many actions of an iteration are made before it ends, and whether it ends too early for the rest. */
function madeIn({ actions, transient, fails }: IterationPlan): readonly ActionPlan[] {
  return transient.runs > 100 || fails !== null ? actions.slice(0, transient.after) : actions;
}

function expectedOf(character: Character, script: Script, limit: number | null): Expected {
  const { fate, protectedDoor } = character;
  const allowed = fate === "no-budget" && limit !== null ? Math.min(limit, script.iterations.length) : script.iterations.length;
  const refuses = character.protected === "REJECT" || character.protected === "silence";
  const stop = refuses ? script.iterations.findIndex((one) => madeIn(one).some(({ door }) => door === protectedDoor)) : -1;
  const stopped = stop >= 0 && stop < allowed;
  const applied: Record<string, 0 | 1> = {};
  script.iterations.forEach((iteration, index) => {
    const reached = index < (stopped ? stop : allowed);
    for (const { identity, door } of iteration.actions) if (door !== "read") applied[identity] ??= 0;
    for (const { identity, door, fails } of reached ? madeIn(iteration) : []) if (door !== "read" && !fails) applied[identity] = 1;
    if (character.external) applied[`maker:${character.id}:${iteration.leaf}:${index + 1}`] = reached && iteration.transient.runs < 100 ? 1 : 0;
  });
  // What the refused iteration does beside the refused call depends on how far it got.
  for (const { identity } of stopped ? (script.iterations[stop]?.actions ?? []) : []) delete applied[identity];
  return { ...endOf(character, { stopped, used: limit !== null && limit < script.iterations.length }), applied };
}

function endOf({ fate, protected: decision }: Character, run: { readonly stopped: boolean; readonly used: boolean }): Omit<Expected, "applied"> {
  if (run.stopped) return { disposition: "handed_off", reason: decision === "silence" ? "approval_expired" : "approval_rejected" };
  const reason = handedOff[fate];
  if (reason) return { disposition: "handed_off", reason };
  if (fate === "no-budget" && run.used) return { disposition: "waiting", reason: "budget_exhausted" };
  return { disposition: "done", reason: fate === "green" ? "no_mutation_owed" : null };
}
