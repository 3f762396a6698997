import { z } from "zod";
import { defineEvent } from "./define.ts";
import { seq, text } from "./fields.ts";

/** Which records were summarised for a model's context, which were kept whole, and the summary. Nothing is deleted. */
export const compaction = defineEvent("compaction", { authorship: ["owner"], writers: ["maker", "worker"] },
  z.strictObject({ seqs: z.array(seq).max(10_000), pinned: z.array(seq).max(10_000), tokensMax: z.int().min(1), summary: text(65_536) }));
