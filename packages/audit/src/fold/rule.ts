/** A rule of the audit's fold: why a record would change nothing, and what it changes where it counts. */
import type { EventType } from "@loopledger/shared/core/events/index";
import type { Refusal } from "../rows.ts";
import type { Case } from "./session.ts";

export interface Rule<T extends EventType> {
  /** null: the record counts. It changes nothing by itself. */
  refuses(c: Case<T>): Refusal | null;
  /** The session's `seq` is this record's already. */
  applies(c: Case<T>): void;
}
export type Rules<T extends EventType> = { readonly [K in T]: Rule<K> };

/** For records that are kept and change nothing by themselves. */
export const remark: Rule<never> = { refuses: () => null, applies: () => {} };
