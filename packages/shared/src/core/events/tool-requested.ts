import { z } from "zod";
import { defineEvent } from "./define.ts";
import { contract, digest, eventId, json, key, leafId, name } from "./fields.ts";

/** The intent: written and read back before the effect. The call window is in seconds: deadline + call timeout + margin. */
export const toolRequested = defineEvent("tool_requested", { authorship: ["owner"], writers: ["maker", "worker"] },
  z.strictObject({
    tool: name, args: json, argsDigest: digest, contract, fences: z.boolean(), callWindowSeconds: z.number().positive(),
    mutates: z.boolean(), key, keySource: z.enum(["default", "tool", "caller"]), dispatch: eventId, leaf: leafId,
    iteration: z.int().min(0), ordinal: z.int().min(0),
    /** The checkpoint whose APPROVE or MODIFY lets this action through. */
    approval: name.optional(),
  }));
