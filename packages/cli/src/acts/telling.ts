/** Says what became of an act: with --json the status document with `act` and `seq`, else a sentence and what comes next. */
import type { CommandContext } from "../context.ts";
import { standingText } from "../reading/status-text.ts";
import type { Acted } from "./act.ts";

export function tellActed({ json, print }: CommandContext, { act, seq, repeated, view }: Acted, sentence: string): void {
  if (json) {
    print.json({ act, seq, ...view });
    return;
  }
  print.line(`${print.paint("bold", view.sessionId)}  ${standingText(view, print.paint)}`);
  const place = seq === null ? "" : `  ${print.paint("dim", `(seq ${seq})`)}`;
  print.line(`  ${repeated ? "It was so before: " : ""}${sentence}${place}`);
}
