/** One guard of the product's fold taken away at a time, as a change of its text. */
export interface Mutant {
  readonly name: string;
  /** Below the core. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}
const fence = "fencing/fence.ts";
const effects = "session/rules/effects.ts";
const facts = "session/rules/facts.ts";
const verdicts = "session/rules/verdicts.ts";
const decisions = "session/rules/decisions.ts";
const cycles = "session/rules/cycles.ts";
const dispatching = "session/rules/dispatching.ts";
const claiming = "session/rules/claiming.ts";

export const mutants: readonly Mutant[] = [
  { name: "a claim may skip epochs", file: fence, from: `  if (epoch > state.epoch + 1) return "gap";\n`, to: "" },
  { name: "a claim of the current epoch counts", file: fence, from: `  if (epoch === state.epoch) return state.owner?.id === ownerId ? "duplicate" : "rival";\n`, to: "" },
  { name: "a claim of a passed epoch counts", file: fence, from: `  if (epoch < state.epoch) return "stale_epoch";\n  if (epoch === state.epoch)`, to: "  if (epoch === state.epoch)" },
  { name: "a claim need not name the open dispatch", file: fence, from: "if (!state.open || record.data.dispatch !== state.open.eventId) return", to: "if (!state.open) return" },
  { name: "the owner is not compared", file: fence, from: `    if (state.owner?.id !== ownerId) return state.owner ? "rival" : "stale_epoch";\n`, to: "" },
  { name: "an older epoch may write", file: fence, from: `    if (epoch < state.epoch) return "stale_epoch";\n`, to: "" },
  { name: "the number of a record is not checked for gaps", file: fence, from: `  if (guards.fence && n > state.n + 1) return "gap";\n`, to: "" },
  { name: "the number of a record is not checked for repeats", file: fence, from: `  if (guards.dedupe && n <= state.n) return "duplicate";\n`, to: "" },
  { name: "a repeat is one below the last number only", file: fence, from: "n <= state.n)", to: "n < state.n)" },
  { name: "an owner record need not name the open dispatch", file: fence, from: "if (!state.open || record.cause?.eventId !== state.open.eventId) return", to: "if (!state.open) return" },
  { name: "any type fits any cycle", file: fence, from: `return fitsCycle(record.type, state.open.cycle) ? null : "wrong_cycle";`, to: "return null;" },
  {
    name: "a void cause is believed", file: "session/owed.ts",
    from: `if (!slot || slot.what !== record.type || record.cause?.eventId !== slot.cause) return "not_owed";\n  if (record.eventId !== slot.eventId) return "malformed";`,
    to: `if (!slot || slot.what !== record.type) return "not_owed";`,
  },
  { name: "the content of what is owed is not compared", file: "session/owed.ts", from: `return sameJson(slot.content, record.data) ? null : "not_owed";`, to: "return null;" },
  { name: "a second dispatch beside an open one counts", file: dispatching, from: `    if (by.guards.dedupe && state.open) return "not_owed";\n    const mismatch = meets(state.owed, record);\n    if (mismatch) return mismatch;\n    if (heldBack(state)) return "suspended";\n`, to: "" },
  { name: "a repeated act counts again", file: "session/evolve.ts", from: `  if (by.guards.dedupe && lookUp(state.acts, record.eventId)) return "duplicate";\n`, to: "" },
  { name: "acts count after the end", file: "session/evolve.ts", from: `  if (state.end && record.type !== "resumed" && !endsUnknown(state.end)) return "after_end";\n`, to: "" },
  { name: "a timer fires before it is due", file: "session/rules/acts.ts", from: " || by.time < timer.dueAt) return", to: ") return" },
  { name: "did_not_happen needs neither fence nor window", file: effects, from: "  return isFencedOff(effect, state.epoch) || isWindowOver(state, effect, time);", to: "  return effect.callWindowSeconds >= 0 && time >= 0 && state.epoch >= 0;" },
  { name: "a repeated call fails while its window is open", file: effects, from: ` && !isWindowOver(state, effect, by.time)) return "not_owed";`, to: ` && by.time < 0) return "not_owed";` },
  { name: "a fence concludes what its owner calls again", file: effects, from: ` && effect.contract !== "idempotent" && epoch > effect.epoch`, to: " && epoch > effect.epoch" },
  { name: "the window counts from the intent alone", file: effects, from: "lastClaimAt !== null && lastClaimAt > effect.intentAt ? lastClaimAt : effect.intentAt", to: "lastClaimAt === null ? effect.intentAt : effect.intentAt" },
  { name: "a person settles what its owner is about", file: effects, from: `    if (human && !isUnknown(state, effect)) return "not_owed";\n`, to: "" },
  { name: "another call is made over an unknown one", file: effects, from: `  if (unsettledBefore(state).length > 0) return "suspended";\n`, to: "" },
  { name: "one key stands for two calls", file: effects, from: `  if (known && (known.argsDigest !== argsDigest || known.tool !== tool)) return "key_conflict";\n`, to: "" },
  { name: "a protected call needs no approval", file: effects, from: `return approvalFor(state, approval ?? "", { tool, argsDigest, key }) ? null : "forbidden";`, to: "return null;" },
  { name: "a build ends over an unsettled call", file: cycles, from: `  built(state, record, by) {\n    if (state.unsettled.length > 0) return "suspended";\n`, to: "  built(state, record, by) {\n" },
  { name: "tries are not counted", file: cycles, from: ` || attempt !== state.open.retries + 1 || attempt > state.submission.bounds.retryAttempts) return`, to: ") return" },
  { name: "a cycle fails over an unsettled call", file: cycles, from: `  cycle_failed(state, record, by) {\n    if (state.unsettled.length > 0) return "suspended";\n`, to: "  cycle_failed(state, record, by) {\n" },
  { name: "one approval serves two keys", file: "session/checkpoints.ts", from: " || (checkpoint.servedKey !== null && checkpoint.servedKey !== action.key)) return null;", to: ") return null;" },
  { name: "another check than the pinned one counts", file: verdicts, from: `  if (pinned && pinned.digest !== d.checkDigest) return "forbidden";\n`, to: "" },
  { name: "a PASS counts over an evidence gap", file: verdicts, from: ` || (verdict === "PASS" && gaps)) return inconclusive`, to: ") return inconclusive" },
  { name: "a contradictory verdict counts", file: verdicts, from: `  if ((verdict === "PASS") !== (next_steps.length === 0)) {`, to: `  if (verdict === "INCONCLUSIVE") {` },
  { name: "a receipt is owed by a FAIL", file: verdicts, from: `return verdict === "PASS" ? passed(sure, record, at) : failed(sure, record, at);`, to: "return passed(sure, record, at);" },
  { name: "a maker judges its own work", file: verdicts, from: `  if (state.lastBuilt && state.lastBuilt.actor === record.actor.id) return "forbidden";\n`, to: "" },
  { name: "an iteration is not charged", file: dispatching, from: "iterations: spending.iterations + 1", to: "iterations: spending.iterations" },
  { name: "a used-up budget holds nothing back", file: dispatching, from: `return owed && exhaustedFor(state, owed.cycle) ? "budget_exhausted" : null;`, to: `return owed && exhaustedFor(state, owed.cycle) ? null : null;` },
  { name: "a pause is ignored", file: dispatching, from: `  if (state.pause && state.owed?.what !== "receipt") return "paused";\n`, to: "" },
  { name: "a checkpoint is ignored", file: dispatching, from: `  if (state.pending.length > 0) return "approval";\n`, to: "" },
  { name: "a second decision counts", file: decisions, from: `  if (known && known.decision !== null) return saysTheSame(known, record, by) ? "duplicate" : "key_conflict";\n`, to: "" },
  { name: "who asks may approve", file: decisions, from: `  if (mayNotAnswer(state, known, record.actor.id)) return "forbidden";\n`, to: "" },
  { name: "who called for a decision may give it, four eyes or not", file: decisions, from: ` || (calledBy === who && state.submission?.bounds.fourEyes === true);`, to: ";" },
  { name: "an unsafe unknown does not fail the session", file: claiming, from: "  if (unsafe) return failUnknown(claimed, by);\n", to: "" },
  { name: "a reservation dies with its owner", file: "budget/budget.ts", from: "costUsd: held.reduce((total, one) => total + (one.amounts.costUsd ?? 0), spending.costUsd),", to: "costUsd: spending.costUsd," },
  { name: "what is forfeited asks nobody", file: claiming, from: "const claimed = callAtCost(state, taken, by);", to: "const claimed = taken;" },
  { name: "a call is made after the money is gone", file: effects, from: `  if (spentToTheLast(state)) return "suspended";\n`, to: "" },
  { name: "a model is called after the money is gone", file: facts, from: `    if (spentToTheLast(state) && !isReserved(state, record.data.usage.reservation)) return "suspended";\n`, to: "" },
  { name: "a reserved model call is refused after the money is gone", file: facts, from: " && !isReserved(state, record.data.usage.reservation)", to: "" },
  { name: "nothing is set aside after the money is gone, but for nothing", file: facts, from: "if (spentToTheLast(state) || !canReserve(state, amounts))", to: "if (!canReserve(state, amounts))" },
  { name: "an accepted id counts again", file: "session/evolve.ts", from: `    if (guards.dedupe && isKnown(state, record)) return refuse(state, "duplicate");\n`, to: "" },
  { name: "a record of another ledger counts", file: "session/evolve.ts", from: " || (state.ledgerId !== null && state.ledgerId !== record.ledgerId)", to: "" },
  { name: "an unknown record away from home holds the session", file: "session/evolve.ts", from: `    if (state.position !== null && state.position.partition !== entry.partition) return refuse(state, "malformed");\n    if (entry.parsed.kind === "unknown") return hold`, to: `    if (entry.parsed.kind === "unknown") return hold` },
  { name: "an intent's digest is not compared", file: effects, from: `  if (digestOf(args, by.sha256) !== argsDigest) return "malformed";\n`, to: "" },
  { name: "the breaker never trips", file: "retry/breaker.ts", from: "trips: same || alternates(next)", to: "trips: same && alternates(next)" },
];
