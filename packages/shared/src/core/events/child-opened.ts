import { z } from "zod";
import { defineEvent } from "./define.ts";
import { amounts, digest, sessionId } from "./fields.ts";

/** A next step that is itself a goal runs as a session of its own, on a budget carved from this one. */
export const childOpened = defineEvent("child_opened", { authorship: ["derived"], writers: ["scheduler"] },
  z.strictObject({ child: sessionId, goalDigest: digest, depth: z.int().min(1), carved: amounts }));
