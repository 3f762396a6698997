import { z } from "zod";
import { defineEvent } from "./define.ts";
import { text } from "./fields.ts";

/** Advice for the next build; it never changes the goal. */
export const guidance = defineEvent("guidance", { authorship: ["act"], writers: ["human"] },
  z.strictObject({ text: text(65_536).min(1) }));
