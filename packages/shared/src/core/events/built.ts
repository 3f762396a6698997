import { z } from "zod";
import { defineEvent } from "./define.ts";
import { json, log, text, usage } from "./fields.ts";

/** The build cycle is over. `mutations` 0 says why nothing was owed. */
export const built = defineEvent("built", { authorship: ["owner"], writers: ["maker"] },
  z.strictObject({
    summary: text(65_536), revision: text(512).nullable(), usage,
    mutations: z.strictObject({ count: z.int().min(0), why: text(2048).optional() }).optional(),
    citations: z.array(text(512)).max(1000).optional(), artifacts: z.array(json).max(1000).optional(), log: log.optional(),
  }));
