import { z } from "zod";
import { defineEvent } from "./define.ts";
import { json, key } from "./fields.ts";

/** The outcome of an intent. `failed` means that the target says it did not happen. A large result is `{ blob, bytes }`. */
export const toolResult = defineEvent("tool_result", { authorship: ["owner"], writers: ["maker", "worker"] },
  z.strictObject({ key, outcome: z.enum(["confirmed", "failed"]), result: json }));
