/** The same story for programs: each accepted record as a row on stdout, nothing else there. */
import type { Positions } from "@loopledger/shared/ports";
import type { Printer } from "../printing.ts";
import type { Story } from "./story.ts";

export function rowStory(print: Printer, from: Positions): Story {
  return {
    listen: (folds) => folds.listen(({ record, verdict, entry }) => {
      if (!record || verdict.kind !== "accepted" || entry.offset < (from.get(entry.partition) ?? 0)) return;
      print.row({ ...record, seq: verdict.seq, cursor: verdict.seq });
    }, "story"),
    live: (_sessionId, _source, chunk) => print.raw(chunk),
    line: (text) => print.note(text),
    close: () => undefined,
  };
}
