import { z } from "zod";
import { defineEvent } from "./define.ts";
import { text } from "./fields.ts";

/** No new dispatch from here; the open cycle finishes, unless `now`. */
export const pauseRequested = defineEvent("pause_requested", { authorship: ["act"], writers: ["human"] },
  z.strictObject({ now: z.boolean(), reason: text(2048) }));
