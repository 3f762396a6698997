/** The answers as a person reads them, one line each. It never leaves a key or a figure out that the answer holds. */
import type { BudgetLine, BudgetView } from "../budget/budget.ts";
import { type Json, type JsonObject, cutWithMark } from "../json.ts";
import type { SessionState } from "./state.ts";
import type { EffectState, StatusView } from "./status.ts";
import { tellingLine } from "./telling-line.ts";

export function goalText(state: SessionState): string {
  const { submission } = state;
  if (!submission) return "none was submitted";
  return `${submission.goal.goal} (its check is ${submission.goal.check}; ${submission.digest.slice(0, 19)})`;
}

const leafOrder = ["verified", "unverified", "needs-rework", "open"] as const;
const leafWords: Readonly<Record<(typeof leafOrder)[number], string>> = {
  verified: "complete", unverified: "built and not checked", "needs-rework": "to be reworked", open: "not begun",
};
export function stepsText({ leaves }: Pick<StatusView, "leaves">): string {
  const parts = leafOrder.flatMap((status) => {
    const ids = leaves.filter((leaf) => leaf.status === status).map((leaf) => leaf.id);
    return ids.length > 0 ? [`${leafWords[status]}: ${ids.join(", ")}`] : [];
  });
  return parts.length > 0 ? parts.join("; ") : "none";
}

const effectOrder: readonly EffectState[] = ["confirmed", "failed", "intended", "unknown"];
export function effectsText({ effects }: Pick<StatusView, "effects">): string {
  const parts = effectOrder.flatMap((state) => {
    const keys = effects.filter((effect) => effect.state === state).map((effect) => effect.key);
    return keys.length > 0 ? [`${state}: ${keys.join(", ")}`] : [];
  });
  return parts.length > 0 ? parts.join("; ") : "none";
}

export function evidenceText(state: SessionState): string {
  const { lastCheck, receipt } = state;
  const gaps = Object.entries(state.gaps).map(([scope, outcome]) => `${scope} is ${outcome}`);
  const gapText = gaps.length > 0 ? [`gaps: ${gaps.join(", ")}`] : [];
  if (!lastCheck) return ["no verdict so far", ...gapText].join("; ");
  const revision = lastCheck.revision === null ? "" : ` on ${shortened(lastCheck.revision)}`;
  const steps = lastCheck.next_steps.map((step) => (typeof step === "string" ? step : step.goal.goal));
  const why = whyIn(lastCheck.evidence) ?? foundBy(lastCheck);
  const verdict = couldNotStart(lastCheck) ? "the check could not be run (red before any work)" : lastCheck.verdict;
  return [
    `${verdict}${revision}${why === null ? "" : `: ${shortened(why)}`}`,
    ...(steps.length > 0 ? [`next: ${shortened(steps[0] ?? "")}`] : []),
    ...(receipt ? [`receipt at seq ${receipt.seq} for the check at seq ${receipt.finalCheckSeq}`] : []), ...gapText,
  ].join("; ");
}

/** What an evidence says of why there is no verdict, or why the check could not be run. */
export function whyIn(evidence: Json): string | null {
  const said = evidence !== null && typeof evidence === "object" && !Array.isArray(evidence) ? (evidence as JsonObject) : {};
  const why = said["why"] ?? (said["moved"] === true ? said["note"] : undefined);
  return typeof why === "string" ? why : null;
}

/** The beginning of why a check gave no verdict where nothing of it ran. */
export const couldNotStartWords = "the check could not start";

/** Before any work such a check counts as red, so that the work may make what it lacks: nobody has judged anything all the same. */
export function couldNotStart({ verdict, evidence }: { readonly verdict: string; readonly evidence: Json }): boolean {
  return verdict === "FAIL" && (whyIn(evidence)?.startsWith(couldNotStartWords) ?? false);
}

/** What a check that found the work wanting says of it: its next step is often the task once more. */
export function foundBy({ verdict, evidence }: { readonly verdict: string; readonly evidence: Json }): string | null {
  return verdict === "FAIL" ? tellingLineOf(evidence) : null;
}

/** The line of a check's output that tells most, where its evidence holds an output. */
export function tellingLineOf(evidence: Json): string | null {
  const output = evidence !== null && typeof evidence === "object" && !Array.isArray(evidence) ? (evidence as JsonObject)["output"] : undefined;
  return typeof output === "string" ? tellingLine(output) : null;
}

/** The same, short enough for a sentence. */
export function lastLineOf(evidence: Json): string | null {
  const line = tellingLineOf(evidence);
  return line === null ? null : shortened(line);
}

export function shortened(text: string): string {
  const line = text.trim().split("\n")[0] ?? "";
  return cutWithMark(line, 120, "...");
}

export function budgetText(budget: BudgetView): string {
  const parts = [
    lineText("iterations", budget.iterations, (n) => String(n)), lineText("cost", budget.costUsd, (n) => `$${amount(n)}`),
    lineText("tokens", budget.tokens, (n) => String(n)), lineText("running time", budget.wallSeconds, (n) => `${amount(n)} s`),
  ].filter((one) => one !== null);
  return parts.join("; ");
}
/** A line without a limit is told only where something was spent. */
function lineText(name: string, line: BudgetLine, write: (n: number) => string): string | null {
  if (line.limit === null) return line.spent > 0 ? `${name}: ${write(line.spent)} spent, no limit` : null;
  const reserved = line.reserved > 0 ? `, ${write(line.reserved)} reserved` : "";
  return `${name}: ${write(line.remaining ?? 0)} of ${write(line.limit)} left${reserved}`;
}
/** Two places, and none where there is nothing behind the point. */
export function amount(value: number): string {
  return value.toFixed(2).replace(/\.?0+$/, "");
}
