/**
 * Settling an effect of which nobody knows whether it happened.
 *
 * L1. "It did not happen" is said only after a look that fenced the target under the current epoch, or when the call window is
 *     over by the log's time: before that a late call can still arrive.
 */
import type { Json } from "@loopledger/shared/core/json";
import { type Act, reconciliationOf } from "@loopledger/shared/core/session/acts";
import { lookUp } from "@loopledger/shared/core/session/persistent-map";
import { isFencedOff, windowOverAt } from "@loopledger/shared/core/session/rules/effects";
import type { Effect, SessionState } from "@loopledger/shared/core/session/state";
import { effectState } from "@loopledger/shared/core/session/status";
import { whole } from "@loopledger/shared/runtime";
import { Problem } from "./problems.ts";
import type { Service } from "./service.ts";

export interface Reconciliation {
  readonly key: string;
  readonly outcome: "happened" | "did_not_happen";
  readonly evidence: Json;
  readonly result?: Json | undefined;
}

/** The act, or null where the effect is settled just so already. Throws `unknown_effect`, `not_unknown`, `window_open` and `happened`. */
export async function askedReconciliation(service: Service, state: SessionState, asked: Reconciliation): Promise<Act | null> {
  const effect = lookUp(state.effects, asked.key);
  if (!effect) throw new Problem("unknown_effect", `The session has no effect with the key ${asked.key}.`);
  if (effect.settled !== null) {
    if (effect.settled === (asked.outcome === "happened" ? "confirmed" : "failed")) return null;
    throw new Problem("not_unknown", `The effect ${asked.key} is settled: ${effect.settled}.`);
  }
  if (effectState(state, effect) !== "unknown") throw new Problem("not_unknown", `The outcome of ${asked.key} is not unknown: its owner may still write it.`);
  const look = asked.outcome === "happened" ? null : await lookOrWindow(service, state, effect);
  return reconciliationOf({ effect, look, outcome: asked.outcome, epoch: state.epoch, evidence: asked.evidence, by: service.settings.principal, result: asked.result });
}

/** The evidence of a look that fenced the target, or null once the window is over. */
async function lookOrWindow(service: Service, state: SessionState, effect: Effect): Promise<Json> {
  const look = await fencingLook(service, state, effect);
  if (look !== null) return look;
  const leftMs = windowOverAt(effect, state.lastClaimAt) - service.engine.logClock.nowAfter(state.at);
  if (leftMs < 0) return null;
  const seconds = Math.floor(leftMs / 1000) + 1;
  throw new Problem("window_open", `A call of ${effect.key} that started in time can still arrive for ${seconds} s.`, { headers: { "retry-after": String(seconds) } });
}

async function fencingLook({ engine }: Service, state: SessionState, effect: Effect): Promise<Json> {
  const tool = engine.handlers.tool(effect.tool);
  if (!tool || !isFencedOff(effect, state.epoch)) return null;
  const args = await whole(engine, state.sessionId, effect.args);
  if (!args) return null;
  const call = { sessionId: state.sessionId, epoch: state.epoch, key: effect.key, args: args.value };
  const answer = await tool.look(call, AbortSignal.timeout(tool.timeoutSeconds * 1000)).catch(() => null);
  if (answer?.status === "happened") throw new Problem("happened", `The target says that ${effect.key} happened.`);
  return answer?.status === "did_not_happen" ? answer.evidence : null;
}
