/** What every part of the model stands on: the configuration, the nodes of the log, and the requests. */
import type { SessionState } from "@loopledger/shared/core/session/state";
import { lookUp } from "@loopledger/shared/core/session/persistent-map";
import { windowOverAt } from "@loopledger/shared/core/session/rules/effects";
import type { Breach } from "./account.ts";
import type { Configuration } from "./configuration.ts";
import type { Node, Nodes } from "./nodes.ts";
import { type World, headOf } from "./world.ts";
import type { Flights } from "./writing.ts";

export interface Ground {
  readonly configuration: Configuration;
  readonly nodes: Nodes;
  readonly flights: Flights;
}
/** One thing that may happen next. */
export interface Step {
  readonly label: string;
  readonly world: World;
  /** It is no part of what has to lead to an end. */
  readonly isFault: boolean;
  readonly breach?: Breach;
}

export const headState = ({ nodes }: Ground, world: World): SessionState => nodes.of(headOf(world)).state;

/** Every node that a process may know: its last look, and what the log has come to since. */
export function viewsOf({ trail }: World, { view, behind }: { readonly view: number; readonly behind: number }): { readonly view: number; readonly behind: number }[] {
  const newer = trail.map((node, index) => ({ view: node, behind: trail.length - 1 - index })).filter((one) => one.behind < behind);
  return [{ view, behind }, ...newer];
}
export const lag = (behind: number): string => (behind === 0 ? "" : ` [${behind} behind]`);

/** No call for this key can be under way any more, by the log's time. */
export function isWindowOver({ state, now }: Node, key: string): boolean {
  const effect = lookUp(state.effects, key);
  return effect !== undefined && now > windowOverAt(effect, state.lastClaimAt);
}
