/** `approval_requested`: what may call for a human decision, and the record that asks for it. */
import { z } from "zod";
import { defineEvent } from "./define.ts";
import { digest, json, name, text } from "./fields.ts";

export const trigger = z.enum([
  "before", "repeat_after_takeover", "every_iterations", "on_failure", "on_plan_complete", "cost", "external", "gate",
]);
export type CheckpointTrigger = z.infer<typeof trigger>;

/** A human must decide on exactly this action. `expires` is in seconds after the append; null = it waits. */
export const approvalRequested = defineEvent("approval_requested", { authorship: ["owner", "derived"], writers: ["maker", "worker", "checker", "scheduler"] },
  z.strictObject({
    checkpoint: name, trigger, action: json, digest, revision: text(512).nullable().optional(),
    expires: z.number().positive().nullable(),
  }));
