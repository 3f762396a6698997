import { z } from "zod";
import { defineEvent } from "./define.ts";
import { eventId, log, name, text, usage } from "./fields.ts";

/** The cycle ended without its result. The fingerprint is what the breaker compares; `terminal` hands off at once. */
export const cycleFailed = defineEvent("cycle_failed", { authorship: ["owner"], writers: ["maker", "worker", "checker"] },
  z.strictObject({
    dispatch: eventId, class: z.enum(["transient", "deterministic", "ambiguous", "gate"]), code: name,
    fingerprint: text(256).min(1), terminal: z.boolean(), message: text(8192), usage, log: log.optional(),
  }));
