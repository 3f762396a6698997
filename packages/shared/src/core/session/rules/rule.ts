/** A rule of the fold: the next state, or the reason why the record changes nothing. */
import type { LogTime, Sha256 } from "../../brand.ts";
import type { RecordOf } from "../../events/envelope.ts";
import type { EventType } from "../../events/index.ts";
import type { Guards } from "../../fencing/guards.ts";
import type { Bringing } from "../endings.ts";
import type { SessionState, Submission, VoidReason } from "../state.ts";

export interface Judging extends Bringing {
  /** Append time of the record that is judged. */
  readonly time: LogTime;
  readonly sha256: Sha256;
  readonly guards: Guards;
}
export type Judged = SessionState | VoidReason;
export type Rule<T extends EventType> = (state: Submitted, record: RecordOf<T>, by: Judging) => Judged;
/** A session that has its goal. */
export type Submitted = SessionState & { readonly submission: Submission };
export type Rules<T extends EventType> = { readonly [K in T]: Rule<K> };
