import { z } from "zod";
import { defineEvent } from "./define.ts";
import { eventId, json, text } from "./fields.ts";

/** A trajectory and how it ended; only after a verdict of another principal than the maker, which it names. */
export const learning = defineEvent("learning", { authorship: ["act"], writers: ["checker"] },
  z.strictObject({
    check: eventId, query: json, evidence: z.array(text(512)).max(1000), action: json, outcome: text(2048),
  }));
