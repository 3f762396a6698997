import { z } from "zod";
import { defineEvent } from "./define.ts";
import { epoch, eventId, json, key, text } from "./fields.ts";

/** Settles an unknown effect after a look at the target, at the epoch of that look; by the owner or by a person. */
export const reconciled = defineEvent("reconciled", { authorship: ["owner", "act"], writers: ["worker", "human"] },
  z.strictObject({
    intent: eventId, key, epoch, outcome: z.enum(["happened", "did_not_happen"]), evidence: json, by: text(256).min(1),
    result: json.optional(),
  }));
