/** Folds with one rule left out that has no switch of its own: the record is judged as if the state were another one there. */
import type { LedgerRecord } from "@loopledger/shared/core/events/envelope";
import type { EventType } from "@loopledger/shared/core/events/index";
import { type Evolve, type FoldEntry, evolve } from "@loopledger/shared/core/session/evolve";
import { put, values } from "@loopledger/shared/core/session/persistent-map";
import type { SessionState } from "@loopledger/shared/core/session/state";

type Change = (state: SessionState, record: LedgerRecord) => Partial<SessionState>;

/** What the rule looks at is changed for the judgement alone; what the record itself then changes stays. */
function judgedAs(types: readonly EventType[], change: Change): Evolve {
  return (state, entry, sha256) => {
    const record = entry.parsed.kind === "record" ? entry.parsed.record : null;
    if (!record || !types.includes(record.type)) return evolve(state, entry, sha256);
    const changed = change(state, record);
    const step = evolve({ ...state, ...changed }, entry, sha256);
    const kept = Object.entries(changed).filter(([name, value]) => step.state[name as keyof SessionState] === value).map(([name]) => [name, state[name as keyof SessionState]]);
    return { ...step, state: { ...step.state, ...Object.fromEntries(kept) } };
  };
}
function rewritten(type: EventType, rewrite: (record: LedgerRecord, state: SessionState) => LedgerRecord): Evolve {
  return (state, entry, sha256) => {
    if (entry.parsed.kind !== "record" || entry.parsed.record.type !== type) return evolve(state, entry, sha256);
    const told: FoldEntry = { ...entry, parsed: { kind: "record", record: rewrite(entry.parsed.record, state) } };
    return evolve(state, told, sha256);
  };
}

const asFencing: Change = (state) => ({
  effects: values(state.effects).reduce((effects, effect) => put(effects, effect.key, { ...effect, fences: true }), state.effects),
});

const asAskedNow: Change = (state) => ({
  effects: values(state.effects).reduce((effects, effect) => put(effects, effect.key, { ...effect, epoch: state.epoch }), state.effects),
});

const asLookedAt: Change = (state) => ({
  effects: values(state.effects).reduce((effects, effect) => put(effects, effect.key, { ...effect, contract: "lookup" as const }), state.effects),
});

export const weakened = {
  /** `did_not_happen` counts for a target that never fences, and before the call window is over. */
  conclusion: judgedAs(["reconciled"], asFencing),
  /** What is called again is settled behind a fence as if nobody called it again. */
  calledAgain: judgedAs(["reconciled"], asLookedAt),
  /** What refuses a repeated call speaks of the calls before it too. */
  repeatedRefusal: judgedAs(["tool_result"], asAskedNow),
  /** A person's look counts for whatever epoch it finds. */
  epochOfTheLook: rewritten("reconciled", (record, state) => ({ ...record, data: { ...record.data, epoch: state.epoch } }) as LedgerRecord),
  /** A cancel ends at once. */
  cancelWaits: judgedAs(["cancel_requested"], () => ({ unsettled: [] })),
  /** A rejection ends at once. */
  rejectionWaits: judgedAs(["approval_decided"], () => ({ unsettled: [] })),
  /** An expiry ends at once. */
  expiryWaits: judgedAs(["timer_fired"], () => ({ unsettled: [] })),
  /** The takeover limit hands off, whatever is unsettled. */
  takeoverLimitWaits: judgedAs(["claimed"], () => ({ unsettled: [] })),
  /** A dispatch that was sent before the pause is accepted in it. */
  pauseHolds: judgedAs(["dispatched"], () => ({ pause: null })),
  /** A dispatch that was sent before the checkpoint was called for is accepted behind it. */
  checkpointHolds: judgedAs(["dispatched"], () => ({ pending: [] })),
  /** The second half of a batch counts although its first half does not. */
  causeIsAccepted: judgedAs(["dispatched"], (state, record) => ({
    open: null, owed: { cause: record.cause?.eventId as never, what: "dispatched", eventId: record.eventId, content: record.data as never },
  })),
} as const satisfies Record<string, Evolve>;
