import { z } from "zod";
import { defineEvent } from "./define.ts";
import { amounts, disposition, reason, sessionId } from "./fields.ts";

/** A child's end and what it spent. */
export const childClosed = defineEvent("child_closed", { authorship: ["act"], writers: ["scheduler"] },
  z.strictObject({ child: sessionId, disposition, reason: reason.nullable(), spent: amounts }));
