/** What a maker may leave in its result file, return, or answer by http. */
import type { MakerResult } from "@loopledger/shared/core/effects/handling";
import { json, usage as usageSchema } from "@loopledger/shared/core/events/fields";
import { type Json, cutText } from "@loopledger/shared/core/json";
import { z } from "zod";
import { waitOf, waitUntil } from "./waiting.ts";

const usage = z.object(usageSchema.shape);
const resultFile = z.object({
  summary: z.string().optional(),
  revision: z.string().max(512).nullish(),
  usage: usage.nullish(),
  artifacts: z.array(json).max(1000).nullish(),
  citations: z.array(z.string().max(512)).max(1000).nullish(),
  mutations: z.object({ count: z.int().min(0), why: z.string().max(2048).optional() }).nullish(),
  failure: z.enum(["transient", "deterministic"]).nullish(),
  retryAfterSeconds: z.number().min(0).nullish(),
  retryAt: z.union([z.iso.datetime({ offset: true }), z.number()]).nullish(),
  error: z.string().optional(),
});
export type ResultFile = z.infer<typeof resultFile>;
export type ResultRead = { readonly ok: true; readonly file: ResultFile } | { readonly ok: false; readonly why: string };

/** Longest summary that a record holds, in UTF-16 units. */
const summaryMax = 65_536;

export function readResult(value: Json | undefined): ResultRead {
  if (value === undefined || value === null) return { ok: true, file: {} };
  const parsed = resultFile.safeParse(value);
  if (parsed.success) return { ok: true, file: parsed.data };
  return { ok: false, why: parsed.error.issues.slice(0, 3).map((issue) => `${issue.path.map(String).join(".") || "result"}: ${issue.message}`).join("; ") };
}

export function makerResult(file: ResultFile, summary: string): MakerResult {
  return {
    summary: cutText(file.summary ?? summary, summaryMax), revision: file.revision ?? null, usage: file.usage ?? {},
    ...(file.artifacts ? { artifacts: file.artifacts } : {}),
    ...(file.citations ? { citations: file.citations } : {}),
    ...(file.mutations ? { mutations: file.mutations } : {}),
  };
}

/** Seconds until the maker wants to be run again; `retryAt` is a time of day or milliseconds since 1970. */
export function retryAfterSeconds(file: ResultFile, nowMs: number): number | undefined {
  if (file.retryAfterSeconds !== null && file.retryAfterSeconds !== undefined) return waitOf(file.retryAfterSeconds);
  if (file.retryAt === null || file.retryAt === undefined) return undefined;
  return waitUntil(typeof file.retryAt === "number" ? file.retryAt : Date.parse(file.retryAt), nowMs);
}
