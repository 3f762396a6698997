import { z } from "zod";
import { defineEvent } from "./define.ts";
import { digest, name, seq, text, usage } from "./fields.ts";

/** A model call: what was asked of whom, what it cost, and the digest or text of what came back. */
export const model = defineEvent("model", { authorship: ["owner"], writers: ["maker", "worker", "checker"] },
  z.strictObject({
    provider: name, model: name, usage,
    context: z.strictObject({ digest, seqs: z.array(seq).max(10_000) }).optional(),
    output: z.union([z.strictObject({ text: text(65_536) }), z.strictObject({ digest })]).optional(),
  }));
