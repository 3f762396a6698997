/** `approval_decided`: the spelling of a person's answers, and the record that holds one. */
import { z } from "zod";
import { defineEvent } from "./define.ts";
import { digest, json, name, text } from "./fields.ts";

export const decision = z.enum(["APPROVE", "REJECT", "RETRY", "MODIFY", "PAUSE"]);
export type HumanDecision = z.infer<typeof decision>;

/** A person's answer to a checkpoint, bound to the digest of what was shown. */
export const approvalDecided = defineEvent("approval_decided", { authorship: ["act"], writers: ["human"] },
  z.strictObject({ checkpoint: name, decision, action: json.optional(), digest, comment: text(8192) }));
