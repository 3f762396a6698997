import { z } from "zod";
import { defineEvent } from "./define.ts";
import { cycle, eventId, text } from "./fields.ts";

/** The process that claims: enough to see from the same host whether it still lives. */
const host = z.strictObject({ pid: z.int().min(1), startTime: text(64), bootId: text(64), pidNamespace: text(64) });
export type ClaimHost = z.infer<typeof host>;

/** An owner takes the open dispatch under the next epoch. The host part lets others on that host see at once that it died. */
export const claimed = defineEvent("claimed", { authorship: ["claim"], writers: ["worker", "checker"] },
  z.strictObject({
    dispatch: eventId, serves: z.array(cycle).min(1).max(2), leaseMs: z.int().min(1),
    host,
  }));
