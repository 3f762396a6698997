import { z } from "zod";
import { defineEvent } from "./define.ts";

/** The session is judged by a later set of acceptance rules from here on. */
export const rulesRaised = defineEvent("rules_raised", { authorship: ["act"], writers: ["human"] },
  z.strictObject({ rules: z.int().min(1) }));
