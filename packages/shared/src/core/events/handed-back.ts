import { z } from "zod";
import { defineEvent } from "./define.ts";
import { eventId, text } from "./fields.ts";

/** The owner gives its dispatch up in an orderly stop; anybody may claim it. */
export const handedBack = defineEvent("handed_back", { authorship: ["owner"], writers: ["worker", "checker"] },
  z.strictObject({ dispatch: eventId, why: text(512) }));
