import { z } from "zod";
import { defineEvent } from "./define.ts";
import { text } from "./fields.ts";

/** Stops new dispatches and intents; takes effect once no effect is unsettled. */
export const cancelRequested = defineEvent("cancel_requested", { authorship: ["act"], writers: ["human", "scheduler"] },
  z.strictObject({ reason: text(2048) }));
