/**
 * Settles an effect of which nobody knows whether it happened.
 *
 * "It did not happen" holds only when no late call can arrive any more: after a look that fenced the target under the current
 * epoch, or once the call window is over by the log's own time. Until then this waits, and says so.
 */
import type { Epoch } from "@loopledger/shared/core/brand";
import { quoted } from "@loopledger/shared/core/shell-word";
import type { Json } from "@loopledger/shared/core/json";
import { type Act, reconciliationOf } from "@loopledger/shared/core/session/acts";
import { lookUp } from "@loopledger/shared/core/session/persistent-map";
import { isFencedOff, windowOverAt } from "@loopledger/shared/core/session/rules/effects";
import type { Effect, SessionState } from "@loopledger/shared/core/session/state";
import { effectState } from "@loopledger/shared/core/session/status";
import type { LookAnswer } from "@loopledger/shared/core/effects/handling";
import { CliError, UsageError } from "../errors.ts";
import { exitCodes } from "../exit-codes.ts";
import { type Acted, type OpenSession, actedOn } from "./act.ts";
import { refuse } from "./refusals.ts";

export interface Settling {
  readonly key: string;
  readonly outcome: "happened" | "did_not_happen";
  readonly evidence: string;
  readonly result: Json | undefined;
}
export interface Help {
  /** Looks at the effect's target under this epoch; null where no configured tool can. */
  look(effect: Effect, epoch: number): Promise<LookAnswer | null>;
  note(text: string): void;
}

/** A log's clock may lag behind ours: its refusal for that reason is no answer, and the same is said again. */
const lagMs = 500;
const triesMax = 60;

export async function settle(session: OpenSession, settling: Settling, help: Help): Promise<Acted> {
  if (settling.outcome === "happened") return session.act(actOf(session, await effectOf(session, settling.key), { ...settling, epoch: (await session.state()).epoch, look: null }));
  for (let tries = 1; ; ) {
    const effect = await effectOf(session, settling.key);
    const state = await session.state();
    const look = await fencingLook(state, effect, help);
    const waitMs = look ? 0 : windowOverAt(effect, state.lastClaimAt) - session.engine.logClock.nowAfter(state.at) + 1;
    if (waitMs > 0) {
      help.note(`A call that started in time can still arrive until ${new Date(windowOverAt(effect, state.lastClaimAt)).toISOString()}; this waits ${Math.ceil(waitMs / 1000)} s until that is over.`);
      await changeOr(session, waitMs);
      continue;
    }
    const act = actOf(session, effect, { ...settling, epoch: state.epoch, look });
    const { seq, refused, state: after } = await session.take(act);
    if (!refused) return actedOn("reconciled", { seq, repeated: false, state: after });
    const early = refused.reason === "not_owed" || refused.reason === "stale_epoch";
    if (!early || tries++ >= triesMax) throw refuse(act, refused, { state: after, actor: session.actor });
    await changeOr(session, lagMs);
  }
}

interface Saying extends Settling { readonly epoch: Epoch; readonly look: Extract<LookAnswer, { status: "did_not_happen" }> | null }
function actOf(session: OpenSession, effect: Effect, { outcome, evidence, result, epoch, look }: Saying): Act {
  return reconciliationOf({ effect, outcome, epoch, evidence, look: look?.evidence ?? null, by: session.actor.id, result });
}

/** The effect under this key, if it is unknown; else a refusal that names those that are. */
async function effectOf(session: OpenSession, key: string): Promise<Effect> {
  const state = await session.state();
  const effect = lookUp(state.effects, key);
  if (effect && state.unsettled.includes(key)) {
    if (effectState(state, effect) === "unknown") return effect;
    throw new CliError("not_unknown", `The outcome of ${key} is not unknown: its owner may still write it.`, {
      exitCode: exitCodes.failed, next: `If that process is gone, \`loopledger advance ${quoted(state.sessionId)}\` takes over and finds out.`,
    });
  }
  throw unknownKey(state, key, effect);
}

function unknownKey(state: SessionState, key: string, effect: Effect | undefined): UsageError {
  const said = effect ? `The effect ${key} is settled: ${effect.settled ?? "it needs no outcome"}.` : `The session has no effect with the key ${key}.`;
  const there = state.unsettled.length === 0 ? "Nothing is unknown." : `Unknown are: ${state.unsettled.map(quoted).join(", ")}.`;
  return new UsageError(`${said} ${there}`, { code: "unknown_key", next: `\`loopledger explain ${quoted(state.sessionId)}\` shows what is open.` });
}

/** The look that fences, if the target can be looked at so; a look that says the contrary is told and stops this. */
async function fencingLook(state: SessionState, effect: Effect, help: Help): Promise<Saying["look"]> {
  if (!isFencedOff(effect, state.epoch)) return null;
  const answer = await help.look(effect, state.epoch);
  if (!answer) return null;
  if (answer.status === "happened") {
    throw new CliError("happened", `The target says that ${effect.key} happened: ${JSON.stringify(answer.result).slice(0, 400)}`, {
      exitCode: exitCodes.failed, next: `loopledger reconcile ${quoted(state.sessionId)} ${quoted(effect.key)} --happened --evidence TEXT`,
    });
  }
  if (answer.status !== "did_not_happen") {
    help.note(`The target does not know (${answer.status}).`);
    return null;
  }
  help.note(`The target was looked at under epoch ${state.epoch}: it did not happen, and it refuses a late call from now on.`);
  return answer;
}

async function changeOr({ engine, sessionId }: OpenSession, maxMs: number): Promise<void> {
  const { nextChange } = await import("@loopledger/shared/runtime");
  await nextChange(engine, sessionId, { maxMs });
}
