import { z } from "zod";
import { defineEvent } from "./define.ts";
import { text } from "./fields.ts";

/** Ends a pause or a suspension, or re-opens what was handed off. `acceptCheck` takes the changed check as the pinned one. */
export const resumed = defineEvent("resumed", { authorship: ["act"], writers: ["human"] },
  z.strictObject({ acceptCheck: z.boolean(), reason: text(2048) }));
