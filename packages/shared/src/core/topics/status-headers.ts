/**
 * What stands in the headers of a record of the status topic.
 *
 * `type` is `status`; `ledger-id` names the ledger that the status was folded from; `position` is `<partition>:<offset>` of that
 * ledger: every record of the partition before that offset has been folded in. `looked`, on the last record of a step alone, says two
 * things: everything folded before `position` is in the topic, and the topic's own partition was looked through up to that offset.
 */
import type { Offset } from "../brand.ts";

export interface StatusNotes {
  readonly ledgerId: string;
  readonly position: { readonly partition: number; readonly offset: Offset };
  /** null on a record that claims nothing. */
  readonly looked: number | null;
}

export function headersOfStatus({ ledgerId, position, looked }: StatusNotes): Readonly<Record<string, string>> {
  return { type: "status", "ledger-id": ledgerId, position: `${position.partition}:${position.offset}`, ...(looked !== null && { looked: String(looked) }) };
}

const positionRule = /^(0|[1-9][0-9]{0,9}):(0|[1-9][0-9]{0,15})$/;
const numberRule = /^(0|[1-9][0-9]{0,15})$/;

/** null where the headers are none of ours. */
export function notesOfStatus(headers: Readonly<Record<string, string>>): StatusNotes | null {
  const place = positionRule.exec(headers["position"] ?? "");
  const ledgerId = headers["ledger-id"];
  if (place === null || ledgerId === undefined) return null;
  const looked = headers["looked"];
  return {
    ledgerId, position: { partition: Number(place[1]), offset: Number(place[2]) as Offset },
    looked: looked !== undefined && numberRule.test(looked) ? Number(looked) : null,
  };
}
