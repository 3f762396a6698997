import { z } from "zod";
import { defineEvent } from "./define.ts";
import { text } from "./fields.ts";

/** A person or program outside asks for a human decision before the session goes on. */
export const checkpointRequested = defineEvent("checkpoint_requested", { authorship: ["act"], writers: ["human"] },
  z.strictObject({ reason: text(2048) }));
