/** How a session stands when nobody goes on with it: the receipt, or why it stands still and what to type next. */
import type { Standstill } from "@loopledger/shared/core/session/standstill";
import type { SessionState } from "@loopledger/shared/core/session/state";
import { statusOf } from "@loopledger/shared/core/session/status";
import type { Printer } from "../printing.ts";
import { counted, oneLine, seconds } from "./telling.ts";

export function endingText(state: SessionState, { why, next }: Standstill, paint: Printer["paint"]): string[] {
  const view = statusOf(state);
  const title = `${view.disposition.replace("_", " ")}${view.reason ? ` (${view.reason.replaceAll("_", " ")})` : ""}`;
  const style = view.disposition === "done" ? "green" : view.disposition === "waiting" ? "yellow" : "red";
  const row = (name: string, text: string): string => `  ${paint("dim", name.padEnd(10))} ${text}`;
  const { receipt, budget } = view;
  return [
    `${paint([style, "bold"], title)}  ${view.sessionId}`,
    row("goal", oneLine(view.goal?.text ?? "")),
    row("work", `${counted(view.iteration, "iteration")}, ${seconds(budget.wallSeconds.spent)} of running time${budget.costUsd.spent > 0 ? `, $${budget.costUsd.spent.toFixed(2)}` : ""}`),
    ...(receipt === null ? [] : [
      row("check", `${receipt.check.name}  ${paint("dim", receipt.check.digest)}`),
      row("revision", receipt.revision ?? "none"),
      row("evidence", paint("dim", receipt.evidenceDigest)),
      row("receipt", `at seq ${receipt.seq}, on the verdict at seq ${receipt.finalCheckSeq}`),
    ]),
    row("why", why),
    row("next", paint("cyan", next)),
  ];
}
