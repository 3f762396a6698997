/**
 * Makers that are effects themselves (`effects: external`): what they do outside nobody can take back or look up by itself.
 *
 * X1. The intent is read back before the maker starts, and its time counts from before that append: it is over before the
 *     call window is, however long this process was held up on the way.
 * X2. An end that nobody saw fails closed; once it is settled as happened, the build is over and the maker never runs again.
 */
import type { CycleEnd, MakerResult } from "@loopledger/shared/core/effects/handling";
import type { Actor } from "@loopledger/shared/core/events/envelope";
import { type Json, type JsonObject, cutText, digestOf } from "@loopledger/shared/core/json";
import { lookUp } from "@loopledger/shared/core/session/persistent-map";
import type { OpenDispatch } from "@loopledger/shared/core/session/state";
import type { Maker } from "@loopledger/shared/ports";
import { type Draft, type Engine, StaleOwner, type Tenure } from "@loopledger/shared/runtime";
import { makerKey } from "./input.ts";

export interface Outside {
  readonly tenure: Tenure;
  readonly open: OpenDispatch;
  readonly maker: Maker;
  readonly actor: Actor;
}
export type Begun =
  /** It may run for this long, in seconds. */
  | { readonly kind: "run"; readonly secondsLeft: number }
  /** It has run, and somebody has settled that. */
  | { readonly kind: "over"; readonly end: CycleEnd & { readonly kind: "built" } }
  /** Its time was over before it could start. */
  | { readonly kind: "late" };

export async function beginOutside(engine: Engine, run: Outside): Promise<Begun> {
  const { tenure, open, maker, actor } = run;
  const key = makerKey(tenure.state, open);
  const known = lookUp(tenure.state.effects, key);
  if (known?.settled === "confirmed") return { kind: "over", end: { kind: "built", result: resultIn(known.result) } };
  const from = engine.clock.monotonic();
  await tenure.append([intentOf(engine, run)]);
  if (!tenure.holds()) throw new StaleOwner(tenure.sessionId, "stale_epoch");
  const secondsLeft = maker.timeoutSeconds - (engine.clock.monotonic() - from) / 1000;
  if (secondsLeft > 0) return { kind: "run", secondsLeft };
  await tenure.append([{ type: "tool_result", data: { key, outcome: "failed", result: { error: "its time was over before it could start" } }, actor }]);
  return { kind: "late" };
}

/** What the maker's end says of it as an effect; it stands before the record that ends the cycle. */
export function outcomeOutside({ tenure, open, actor }: Outside, end: CycleEnd): Draft {
  const result = end.kind === "built" ? { summary: cutText(end.result.summary, 8192), revision: end.result.revision } : null;
  return { type: "tool_result", data: { key: makerKey(tenure.state, open), outcome: end.kind === "built" ? "confirmed" : "failed", result }, actor };
}

/** Whether it did its work is not known: the owner's next claim says so, and the session fails closed. */
export async function leaveUnknown(tenure: Tenure): Promise<void> {
  if (tenure.holds() && tenure.state.unsettled.length > 0 && !tenure.state.end) await tenure.reclaim();
}

function intentOf(engine: Engine, { open, maker, tenure, actor }: Outside): Draft {
  const args = { task: open.task, leaf: open.leaf, iteration: open.iteration };
  const window = maker.timeoutSeconds * 1.1;
  const data = {
    tool: `maker:${maker.name}`, args, argsDigest: digestOf(args, engine.ids.sha256), contract: "unsafe", fences: false, callWindowSeconds: window,
    mutates: true, key: makerKey(tenure.state, open), keySource: "default", dispatch: open.eventId, leaf: open.leaf, iteration: open.iteration, ordinal: 0,
  } as const;
  return { type: "tool_requested", data, actor };
}

/** Of a run that was settled later, by a person or by half of a batch, what is known is what was recorded. */
function resultIn(result: Json): MakerResult {
  const said = (result !== null && typeof result === "object" && !Array.isArray(result) ? result : {}) as JsonObject;
  const { summary, revision } = said as { readonly summary?: Json; readonly revision?: Json };
  return {
    summary: typeof summary === "string" ? summary : "its work was settled as done",
    revision: typeof revision === "string" ? cutText(revision, 512) : null, usage: {},
  };
}
