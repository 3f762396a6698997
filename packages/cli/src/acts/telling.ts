/** Says what became of an act: with --json the status document with `act` and `seq`, else a sentence, why the session stands as it does, and what comes next. */
import type { SessionState } from "@loopledger/shared/core/session/state";
import type { CommandContext } from "../context.ts";
import { standingText } from "../reading/status-text.ts";
import type { Acted } from "./act.ts";

/** After these the session is expected to go on: whether anybody does so is told from the ledger, not promised. */
const onward: ReadonlySet<string> = new Set(["resumed", "budget_raised", "approval_decided", "reconciled"]);

export async function tellActed(context: CommandContext, { act, seq, repeated, view, state }: Acted, sentence: string): Promise<void> {
  const { json, print } = context;
  if (json) {
    print.json({ act, seq, ...view });
    return;
  }
  print.line(`${print.paint("bold", view.sessionId)}  ${standingText(view, print.paint)}`);
  const place = seq === null ? "" : `  ${print.paint("dim", `(seq ${seq})`)}`;
  print.line(`  ${repeated ? "It was so before: " : ""}${context.hint(sentence)}${place}`);
  if (onward.has(act) && state) for (const line of await whatIsNext(context, state, seq)) print.line(line);
}

async function whatIsNext(context: CommandContext, state: SessionState, actSeq: number | null): Promise<string[]> {
  const [{ standingHere }, { createSystemHost }, { holderOf }] = await Promise.all([
    import("../story/standing.ts"), import("@loopledger/shared/system"), import("@loopledger/shared/core/session/state"),
  ]);
  const holder = holderOf(state);
  const looks = { alive: "live", dead: "gone", elsewhere: "unknown" } as const;
  const owner = holder ? looks[createSystemHost().look(holder.host)] : "unknown";
  // A cycle that only this act called for was never held by an owner that had ended before: nobody died in it.
  const neverHeld = owner === "gone" && actSeq !== null && state.open !== null && state.open.seq > actSeq;
  const { why, next } = standingHere(context, neverHeld ? { ...state, owner: null } : state, owner);
  return [`  ${why}`, `  ${context.print.paint("cyan", next)}`];
}
