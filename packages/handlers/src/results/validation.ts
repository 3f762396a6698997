/**
 * What a check may leave in `validation.json`, return, or answer by http. Anything that does not fit is no verdict: INCONCLUSIVE, never a pass.
 * A contradiction (PASS with next steps, FAIL without) is passed on as it stands.
 */
import type { CheckRun } from "@loopledger/shared/core/effects/handling";
import { nextStepsMax } from "@loopledger/shared/core/events/check";
import { json, usage, verdict } from "@loopledger/shared/core/events/fields";
import { type Json, cutText, repairText, tailText } from "@loopledger/shared/core/json";
import { z } from "zod";

/** Largest validation file that is read. */
export const validationBytesMax = 1_048_576;
const stepMax = 65_536;

const validation = z.object({
  verdict,
  evidence: json.optional(),
  next_steps: z.array(z.union([z.string().trim().min(1).max(stepMax), z.object({ goal: json })])).max(nextStepsMax),
  revision: z.string().max(512).nullish(),
  usage: z.object(usage.shape).nullish(),
  fingerprint: z.string().min(1).max(256).nullish(),
  citations: z.array(z.string().max(512)).max(1000).nullish(),
});

export function inconclusive(why: string, more: Partial<CheckRun> & { readonly output?: string } = {}): CheckRun {
  const { output, ...rest } = more;
  const evidence = { why: cutText(repairText(why), 4096), ...(output ? { output } : {}) };
  return { verdict: "INCONCLUSIVE", evidence, nextSteps: [], revision: null, cannotStart: false, usage: {}, ...rest };
}

export function readValidation(value: Json): CheckRun {
  const parsed = validation.safeParse(value);
  if (!parsed.success) {
    return inconclusive(`the validation does not fit: ${parsed.error.issues.slice(0, 3).map((issue) => issueText(issue, value)).join("; ")}. ${required}`);
  }
  const file = parsed.data;
  if (file.next_steps.some((step) => typeof step !== "string")) {
    return inconclusive("the validation has a next step that is a goal; this release runs next steps that are text");
  }
  return {
    verdict: file.verdict, evidence: file.evidence ?? {}, nextSteps: file.next_steps as string[], revision: file.revision ?? null,
    cannotStart: false, usage: file.usage ?? {},
    ...(file.fingerprint ? { fingerprint: file.fingerprint } : {}),
    ...(file.citations ? { citations: file.citations } : {}),
  };
}

/** Said with every misfit, so that nobody has to look up what a validation is. */
const required = "It needs verdict (PASS, FAIL or INCONCLUSIVE) and next_steps (a list of texts, empty with PASS); evidence, revision, usage, fingerprint and citations may be there";

function issueText({ path, message }: z.core.$ZodIssue, value: Json): string {
  const place = path.map(String).join(".") || "validation";
  const isMissing = path.length === 1 && value !== null && typeof value === "object" && !Array.isArray(value) && !Object.hasOwn(value, place);
  return `${place}${isMissing ? " is missing" : `: ${message}`}`;
}

/**
 * The one next step of a check that speaks by its exit code: the leaf's own words, and the end of what was printed.
 * Never made of an earlier next step: reports would pile up in it.
 */
export function nextStepOf(title: string, output: string): string {
  const head = cutText(title.trim() || "Make the check pass", 16_000);
  const tail = tailText(output.trim(), 4000);
  return tail === "" ? head : `${head}\n\nThe check says:\n${tail}`;
}
