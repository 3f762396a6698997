/**
 * Claims: who goes on with the open dispatch.
 *
 * C1. A claim over an unsettled `unsafe` effect ends in failed(incomplete_tool_turn); so does the takeover limit over any unsettled effect.
 * C2. An owner's own next claim counts as no takeover.
 * C3. What a fenced-off owner reserved and did not settle counts as spent.
 */
import type { RecordOf } from "../../events/envelope.ts";
import { forfeit, startRunning } from "../../budget/budget.ts";
import { claimFence } from "../../fencing/fence.ts";
import { callAtCost } from "../checkpoints.ts";
import { failUnknown, handOff } from "../endings.ts";
import { lookUp } from "../persistent-map.ts";
import type { SessionState } from "../state.ts";
import type { Judged, Judging, Submitted } from "./rule.ts";

export function claim(state: Submitted, record: RecordOf<"claimed">, by: Judging): Judged {
  if (state.end) return "after_end";
  const refused = claimFence(state, record);
  if (refused) return refused;
  if (state.suspension && state.unsettled.length === 0) return "suspended";
  const { open } = state;
  if (!open || record.ownerId === undefined || record.epoch === undefined) return "malformed";
  const again = state.owner?.id === record.ownerId;
  const idle = !again && open.attempts > 0 && state.n === open.nBefore && state.owner !== null;
  const idleTakeovers = again ? open.idleTakeovers : idle ? open.idleTakeovers + 1 : 0;
  const taken: SessionState = {
    ...state, epoch: record.epoch, n: 0, lastClaimAt: by.time,
    takeovers: state.takeovers + (!again && open.attempts > 0 && state.owner !== null ? 1 : 0),
    owner: {
      id: record.ownerId, role: record.actor.kind === "checker" ? "checker" : "worker", serves: record.data.serves,
      leaseMs: record.data.leaseMs, host: record.data.host, claimedAt: by.time, lastAt: by.time,
    },
    open: { ...open, claims: open.claims + 1, attempts: open.attempts + (again ? 0 : 1), idleTakeovers, nBefore: 0 },
    spending: startRunning(again ? state.spending : forfeit(state.spending), by.time),
  };
  // What is forfeited is spent, and may be what a person wants to be asked at.
  const claimed = callAtCost(state, taken, by);
  const unsafe = state.unsettled.some((key) => lookUp(state.effects, key)?.contract === "unsafe");
  if (unsafe) return failUnknown(claimed, by);
  if (idleTakeovers < state.submission.bounds.takeovers) return claimed;
  return state.unsettled.length > 0 ? failUnknown(claimed, by) : handOff(claimed, by, "takeover_limit");
}
