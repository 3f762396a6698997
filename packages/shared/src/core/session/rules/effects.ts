/**
 * Effects: intent, outcome, and the settling of an outcome that nobody saw.
 *
 * E1. Under one key there is one action: the same key with other arguments is a conflict.
 * E2. After an accepted intent without outcome, no later owner asks for another before it is settled.
 * E3. `did_not_happen` counts only at the current epoch, and only where the target fences and was looked at in a higher epoch
 *     than the intent's and nobody calls it again by itself, or where the call window is over by the log's time, counted from the later of intent and last claim.
 *     A later epoch's answer that nothing happened says the same of the earlier call, and counts under the same condition.
 * E4. A person's word counts only while that effect is unknown.
 * E5. Once cost or tokens are spent to the last no intent is accepted; what is in flight is settled.
 * E6. An intent's digest is that of its arguments, whether or not anybody has to approve it.
 */
import type { Epoch, LogTime, Seq } from "../../brand.ts";
import type { RecordOf } from "../../events/envelope.ts";
import { digestOf } from "../../json.ts";
import { spentToTheLast } from "../../budget/budget.ts";
import { callAtCost, approvalFor, triggersOf } from "../checkpoints.ts";
import { afterSettling, endsUnknown, unsettledBefore } from "../endings.ts";
import { lookUp, own, put } from "../persistent-map.ts";
import type { Effect, LeafWork, SessionState, VoidReason } from "../state.ts";
import type { Judging, Rules, Submitted } from "./rule.ts";

/** When no call of this intent can start or be answered any more, by the log's time. */
export function windowOverAt(effect: Effect, lastClaimAt: LogTime | null): LogTime {
  const from = lastClaimAt !== null && lastClaimAt > effect.intentAt ? lastClaimAt : effect.intentAt;
  return (from + effect.callWindowSeconds * 1000) as LogTime;
}

export const effectRules: Rules<"tool_requested" | "tool_result" | "reconciled"> = {
  tool_requested(state, record, by) {
    const refused = mayAsk(state, record, by);
    if (refused) return refused;
    const d = record.data;
    const effect: Effect = {
      key: d.key, tool: d.tool, contract: d.contract, argsDigest: d.argsDigest, args: d.args, fences: d.fences, mutates: d.mutates,
      callWindowSeconds: d.callWindowSeconds, intent: record.eventId, writer: state.owner?.id ?? ("" as Effect["writer"]),
      epoch: state.epoch, intentAt: by.time, leaf: d.leaf, iteration: d.iteration, settled: null, result: null, seq: (state.seq + 1) as Seq,
    };
    const checkpoint = d.approval === undefined ? undefined : lookUp(state.checkpoints, d.approval);
    return {
      ...state, effects: put(state.effects, d.key, effect),
      unsettled: d.contract === "none" ? state.unsettled : [...state.unsettled, d.key],
      checkpoints: checkpoint ? put(state.checkpoints, checkpoint.id, { ...checkpoint, servedKey: d.key }) : state.checkpoints,
    };
  },

  tool_result(state, record, by) {
    const effect = lookUp(state.effects, record.data.key);
    if (!effect) return "not_owed";
    if (effect.settled !== null) return "duplicate";
    if (effect.epoch !== state.epoch && effect.contract !== "idempotent") return "not_owed";
    // A refusal may come from a proxy that the target's fence never met: the call before it can still be applied while its window is open.
    if (effect.epoch !== state.epoch && record.data.outcome === "failed" && !isWindowOver(state, effect, by.time)) return "not_owed";
    return settle(state, effect, { outcome: record.data.outcome, result: record.data.result, by });
  },

  reconciled(state, record, by) {
    const effect = lookUp(state.effects, record.data.key);
    if (!effect || !state.unsettled.includes(effect.key) || effect.intent !== record.data.intent) return "not_owed";
    const human = record.epoch === undefined;
    if (human && !isUnknown(state, effect)) return "not_owed";
    if (record.data.outcome === "did_not_happen") {
      if (record.data.epoch !== state.epoch) return "stale_epoch";
      if (!mayConclude(state, effect, by.time)) return "not_owed";
    }
    const happened = record.data.outcome === "happened";
    return settle(state, effect, { outcome: happened ? "confirmed" : "failed", result: record.data.result ?? null, by });
  },
};

/**
 * A look under this epoch leaves no call that could still be applied. Not so where the effect is `idempotent`: the owner of this very
 * epoch calls it again, and its target's fence lets that call through.
 */
export function isFencedOff(effect: Effect, epoch: Epoch): boolean {
  return effect.fences && effect.contract !== "idempotent" && epoch > effect.epoch;
}
/** May it be said that the effect did not happen? Nobody can have it applied any more: behind a fence, or because no call of it can be under way. */
function mayConclude(state: SessionState, effect: Effect, time: LogTime): boolean {
  return isFencedOff(effect, state.epoch) || isWindowOver(state, effect, time);
}
function isWindowOver(state: SessionState, effect: Effect, time: LogTime): boolean {
  return time > windowOverAt(effect, state.lastClaimAt);
}

/** Nobody knows: the session failed on it, or its writer's epoch has passed. */
function isUnknown(state: SessionState, effect: Effect): boolean {
  return endsUnknown(state.end) || effect.epoch < state.epoch;
}

function mayAsk(state: Submitted, record: RecordOf<"tool_requested">, by: Judging): VoidReason | null {
  const { key, tool, args, argsDigest, approval, dispatch, leaf, iteration } = record.data;
  if (dispatch !== state.open?.eventId) return "not_owed";
  if (leaf !== state.open.leaf || iteration !== state.open.iteration) return "malformed";
  if (state.cancel || state.pendingEnd) return "suspended";
  if (unsettledBefore(state).length > 0) return "suspended";
  if (spentToTheLast(state)) return "suspended";
  const known = lookUp(state.effects, key);
  if (known && (known.argsDigest !== argsDigest || known.tool !== tool)) return "key_conflict";
  if (known && known.contract !== "none" && known.settled !== "failed") return "duplicate";
  if (digestOf(args, by.sha256) !== argsDigest) return "malformed";
  const needed = approval !== undefined || triggersOf(state, "before").some((one) => one.value === tool);
  if (!needed) return null;
  return approvalFor(state, approval ?? "", { tool, argsDigest, key }) ? null : "forbidden";
}

interface Settling { readonly outcome: "confirmed" | "failed"; readonly result: Effect["result"]; readonly by: Judging }

function settle(state: SessionState, effect: Effect, how: Settling): SessionState {
  const settled: Effect = { ...effect, settled: how.outcome, result: how.result };
  const next: SessionState = {
    ...state, effects: put(state.effects, effect.key, settled), unsettled: state.unsettled.filter((key) => key !== effect.key),
    work: how.outcome === "confirmed" ? { ...state.work, [effect.leaf]: withSettled(own(state.work, effect.leaf), settled) } : state.work,
  };
  return afterSettling(callAtCost(state, next, how.by), how.by);
}

function withSettled(work: LeafWork | undefined, effect: Effect): LeafWork {
  const { tool, key, args, argsDigest, result } = effect;
  return { steps: work?.steps ?? {}, settled: [...(work?.settled ?? []), { tool, key, args, argsDigest, result }] };
}
