/** One record as one line: what happened, in a few words, without the parts that only programs need. */
import type { LedgerRecord } from "@loopledger/shared/core/events/envelope";
import type { Json } from "@loopledger/shared/core/json";
import { foundBy, whyIn } from "@loopledger/shared/core/session/explain-text";
import type { Printer, Style } from "../printing.ts";
import type { EventRow } from "./event-rows.ts";
import { firstLine } from "./status-text.ts";

type Paint = Printer["paint"];

export function eventLine(row: EventRow, paint: Paint): string {
  const time = new Date(row.time).toISOString().slice(11, 23);
  if (row.kind === "accepted") {
    const epoch = row.record.epoch === undefined ? "" : ` e${row.record.epoch}`;
    return `${String(row.seq).padStart(5)}  ${paint("dim", `${time}${epoch.padEnd(4)}`)} ${paint(styleOf(row.record), row.record.type.padEnd(20))} ${firstLine(wordsFor(row.record))}`.trimEnd();
  }
  const type = typeof row.envelope["type"] === "string" ? firstLine(row.envelope["type"], 40) : "record";
  const why = row.reason === "held" ? `held: ${firstLine(row.detail ?? "", 80)}` : `refused: ${row.reason}${row.detail === null ? "" : ` (${firstLine(row.detail, 80)})`}`;
  return `    -  ${paint("dim", `${time}    `)} ${paint("dim", type.padEnd(20))} ${paint("yellow", why)}`;
}

function styleOf(record: LedgerRecord): Style {
  switch (record.type) {
    case "check": return record.data.verdict === "PASS" ? "green" : record.data.verdict === "FAIL" ? "red" : "yellow";
    case "receipt": return "green";
    case "cycle_failed": case "error": case "retry": return "red";
    case "tool_requested": case "tool_result": case "reconciled": return "magenta";
    case "approval_requested": case "approval_decided": return "yellow";
    case "dispatched": case "claimed": return "dim";
    default: return "cyan";
  }
}

/** The few words; whatever has none is told by its type alone. */
function wordsFor(record: LedgerRecord): string {
  switch (record.type) {
    case "goal_submitted": return record.data.goal.goal;
    case "dispatched": return `${record.data.cycle} of ${record.data.leaf}, iteration ${record.data.iteration}: ${record.data.task}`;
    case "claimed": return `process ${record.data.host.pid} takes it`;
    case "built": return record.data.summary || "without a word";
    case "check": return `${record.data.verdict} by ${record.data.check}${whyOf(record.data.evidence)}${sayingOf(foundBy(record.data), record.data.next_steps)}`;
    case "cycle_failed": return `${record.data.class} ${record.data.code}: ${record.data.message}`;
    case "retry": return `${record.data.operation}, attempt ${record.data.attempt}, in ${record.data.delay_seconds} s: ${record.data.error}`;
    case "handed_back": return record.data.why;
    case "receipt": return `${record.data.check.name} passed${record.data.revision === null ? "" : ` on ${record.data.revision}`}`;
    case "status": return [record.data.disposition, record.data.reason, record.data.error].filter((one) => one !== null).join(": ");
    case "error": return `${record.data.code}: ${record.data.message}`;
    default: return wordsForEffect(record);
  }
}
function whyOf(evidence: Json): string {
  const why = whyIn(evidence);
  return why === null ? "" : ` (${firstLine(why, 100)})`;
}
function sayingOf(found: string | null, steps: readonly unknown[]): string {
  if (found !== null) return `: ${found}`;
  return steps.length === 0 ? "" : `: ${typeof steps[0] === "string" ? steps[0] : "a goal of its own"}`;
}

function wordsForEffect(record: LedgerRecord): string {
  switch (record.type) {
    case "tool_requested": return `${record.data.tool} ${record.data.key} (${record.data.contract})`;
    case "tool_result": return `${record.data.key} ${record.data.outcome}`;
    case "reconciled": return `${record.data.key} ${record.data.outcome.replaceAll("_", " ")}, by ${record.data.by}`;
    case "step": return record.data.name;
    case "model": return `${record.data.provider} ${record.data.model}`;
    case "grounding": return `${record.data.scope} ${record.data.outcome}, ${record.data.items} items`;
    case "timer_fired": return record.data.kind;
    default: return wordsForAct(record);
  }
}
function wordsForAct(record: LedgerRecord): string {
  switch (record.type) {
    case "approval_requested": return `${record.data.checkpoint} (${record.data.trigger}): ${JSON.stringify(record.data.action)}`;
    case "approval_decided": return `${record.data.decision} at ${record.data.checkpoint} by ${record.actor.id}${record.data.comment === "" ? "" : `: ${record.data.comment}`}`;
    case "guidance": return record.data.text;
    case "budget_raised": return Object.entries(record.data).map(([name, value]) => `${name} +${value}`).join(", ");
    case "cancel_requested": case "checkpoint_requested": return `${record.data.reason} (${record.actor.id})`;
    case "pause_requested": return `${record.data.now ? "at once" : "after the cycle"} (${record.actor.id})`;
    case "resumed": return `${record.data.acceptCheck ? "with the changed check " : ""}(${record.actor.id})`;
    case "child_opened": case "child_closed": return record.data.child;
    default: return "";
  }
}
