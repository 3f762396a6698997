import { z } from "zod";
import { defineEvent } from "./define.ts";
import { digest, sessionId } from "./fields.ts";
import { bounds, goal } from "./goal.ts";

/** The goal, whole and immutable; beside it the number of the acceptance rules and every bound, written out. */
export const goalSubmitted = defineEvent("goal_submitted", { authorship: ["submission"], writers: ["human", "intake", "scheduler"] },
  z.strictObject({
    goal, digest, bounds, rules: z.int().min(1),
    parent: z.strictObject({ sessionId, depth: z.int().min(1) }).optional(),
  }));
