import { z } from "zod";
import { defineEvent } from "./define.ts";
import { digest, json, text } from "./fields.ts";

/** An observation. `partial`, `stale` and `failed` are evidence gaps of their scope until a later one closes them. */
export const grounding = defineEvent("grounding", { authorship: ["owner"], writers: ["maker", "checker", "worker"] },
  z.strictObject({
    scope: text(512).min(1), query: json.optional(), observedAt: text(64),
    pagination: z.strictObject({ page: z.int().min(0), pages: z.int().min(0).optional(), complete: z.boolean() }).optional(),
    revision: text(512).nullable().optional(),
    outcome: z.enum(["observed", "observed_empty", "partial", "stale", "failed"]),
    items: z.int().min(0), itemsDigest: digest,
  }));
