/** A status as a person reads it: one block for a session, one line in a list. */
import { cutWithMark } from "@loopledger/shared/core/json";
import { amount, budgetText, effectsText, foundBy, whyIn } from "@loopledger/shared/core/session/explain-text";
import type { StatusView } from "@loopledger/shared/core/session/status";
import type { Printer, Style } from "../printing.ts";
import { plain } from "./plain.ts";

type Paint = Printer["paint"];

const colours: Readonly<Record<StatusView["disposition"], Style>> = {
  running: "cyan", waiting: "yellow", done: "green", handed_off: "magenta", failed: "red", cancelled: "dim",
};
export function standingText({ disposition, reason }: Pick<StatusView, "disposition" | "reason">, paint: Paint): string {
  const text = disposition.replaceAll("_", " ");
  return paint(["bold", colours[disposition]], reason === null || reason === disposition ? text : `${text}: ${reason.replaceAll("_", " ")}`);
}

/** A block of lines, the most important first; what is empty is left out. */
export function statusBlock(given: StatusView, paint: Paint): string[] {
  const view = plain(given);
  const row = (name: string, text: string | null): string[] => (text === null || text === "" ? [] : [`  ${paint("dim", name.padEnd(10))} ${text}`]);
  return [
    `${paint("bold", view.sessionId)}  ${standingText(view, paint)}`,
    ...row("goal", firstLine(view.goal?.text ?? "")), ...row("error", view.error && paint("red", firstLine(view.error))), ...row("now", nowText(view)),
    ...(view.leaves.length > 1 ? view.leaves.flatMap((leaf, index) => row(index === 0 ? "leaves" : "", leafText(leaf, paint))) : []),
    ...row("effects", view.effects.length > 0 ? effectsText(view) : null), ...row("verdict", verdictText(view, paint)), ...row("budget", budgetText(view.budget)),
    ...view.waitingOn.flatMap((one) => row("waits for", `${one.kind} ${one.id}${one.expires === null ? "" : ` until ${one.expires}`}`)),
    ...(view.children.length > 0 ? row("children", view.children.map((child) => `${child.id} ${child.disposition ?? "running"}`).join(", ")) : []),
    ...row("receipt", view.receipt && paint("green", receiptText(view.receipt))), ...row("refused", refusedText(view)),
    ...row("as of", `seq ${view.asOf}${view.at === null ? "" : `, ${view.at}`}`),
  ];
}

function nowText(view: StatusView): string {
  const what = view.active ? `${view.active} of iteration ${view.iteration}` : `iteration ${view.iteration}`;
  const attempt = view.attempt > 1 ? `, attempt ${view.attempt}` : "";
  const task = view.task === null || view.endedAt !== null ? "" : `: ${firstLine(view.task)}`;
  return `${what}${attempt}${view.owner ? ` by ${view.owner.role} ${view.owner.id.slice(0, 8)}` : ""}${task}`;
}
const marks: Readonly<Record<string, readonly [Style, string]>> = {
  verified: ["green", "✓"], unverified: ["cyan", "?"], "needs-rework": ["red", "✗"], open: ["dim", "·"],
};
function leafText(leaf: StatusView["leaves"][number], paint: Paint): string {
  const [style, mark] = marks[leaf.status] ?? (["dim", "·"] as const);
  return `${paint(style, mark)} ${leaf.id}${leaf.title === leaf.id ? "" : paint("dim", `  ${firstLine(leaf.title)}`)}`;
}
function verdictText({ verdict }: StatusView, paint: Paint): string | null {
  if (!verdict) return null;
  const [next] = verdict.next_steps;
  const style = verdict.verdict === "PASS" ? "green" : verdict.verdict === "FAIL" ? "red" : "yellow";
  const why = whyIn(verdict.evidence);
  const said = foundBy(verdict) ?? (next === undefined ? null : typeof next === "string" ? next : JSON.stringify(next));
  return `${paint(style, verdict.verdict)} at seq ${verdict.seq}${why === null ? "" : ` (${firstLine(why)})`}${said === null ? "" : `: ${firstLine(said)}`}`;
}
function receiptText(receipt: NonNullable<StatusView["receipt"]>): string {
  const revision = receipt.revision === null ? "" : ` on ${receipt.revision.slice(0, 24)}`;
  return `seq ${receipt.seq}: ${receipt.check.name} passed at seq ${receipt.finalCheckSeq}${revision}`;
}
function refusedText(view: StatusView): string | null {
  const entries = Object.entries(view.void);
  return entries.length === 0 ? null : `${entries.map(([reason, count]) => `${count} ${reason}`).join(", ")} (events --void shows them)`;
}

/** It could go on, and no process has taken what is next. */
function isFree({ disposition, owner }: StatusView): boolean {
  return disposition === "running" && owner === null;
}

/** A line of `ls`. */
export function listLine(view: StatusView, width: number, paint: Paint): string {
  const left = view.budget.iterations.limit === null ? "" : `/${amount(view.budget.iterations.limit)}`;
  const standing = view.reason === null || view.reason === view.disposition ? (isFree(view) ? "running, nobody has it" : view.disposition) : `${view.disposition}: ${view.reason}`;
  return [
    view.sessionId.padEnd(width), paint(colours[view.disposition], standing.replaceAll("_", " ").padEnd(26)), `${view.iteration}${left}`.padEnd(7),
    paint("dim", (view.at ?? "").slice(0, 19).replace("T", " ")), firstLine(view.goal?.text ?? "", 60),
  ].join("  ").trimEnd();
}

export function firstLine(text: string, max = 160): string {
  const line = plain(text).trim().split("\n")[0] ?? "";
  return cutWithMark(line, max);
}
