/** Why a record of the goals topic was not taken in. A closed list: other people's scripts go by these words. */
import { repairText, cutWithMark } from "@loopledger/shared/core/json";

export const reasons = {
  null_value: "There is no value: on this topic a null means nothing.",
  not_json: "The value is no JSON text.",
  unknown_schema_id: "The registry does not know the schema that the value names.",
  schema_violation: "The value is JSON, and no goal that can be taken.",
  missing_key: "The key is there and empty. A record without a session's name has no key at all.",
  foreign_key: "The key is no session id, or the record names two different ones.",
  too_large: "The value has more than 256 KiB, or the ledger does not take it.",
  half_characters: "The text holds half a character or a NUL.",
  unknown_handler: "The goal names a maker or a check that the config does not have.",
  id_conflict: "The session id belongs to another goal.",
  not_an_insert: "The change of an outbox table is none that brings a new row.",
  handling_failed: "Taking it in failed again and again for a reason that nobody foresaw.",
} as const satisfies Record<string, string>;

export type Reason = keyof typeof reasons;

/** A record that is not taken in, and what is wrong with it. */
export interface Refused {
  readonly reason: Reason;
  readonly detail: string;
}

const detailMax = 2_000;
/** `detail` is for a person: whole characters, and not as long as the record itself. */
export function refused(reason: Reason, detail: string = reasons[reason]): Refused {
  return { reason, detail: cutWithMark(repairText(detail), detailMax, " …") };
}
