import { z } from "zod";
import { defineEvent } from "./define.ts";

/** Adds to the ceilings. */
export const budgetRaised = defineEvent("budget_raised", { authorship: ["act"], writers: ["human"] },
  z.strictObject({
    iterations: z.int().min(1).optional(), costUsd: z.number().positive().optional(),
    tokens: z.int().min(1).optional(), wallSeconds: z.number().positive().optional(),
  }));
