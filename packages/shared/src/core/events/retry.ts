import { z } from "zod";
import { defineEvent } from "./define.ts";
import { name, text } from "./fields.ts";

/** Keeps the dispatch open and arms a durable timer, due `delay_seconds` after this record's append. Attempts count from 1. */
export const retry = defineEvent("retry", { authorship: ["owner"], writers: ["worker", "checker", "maker"] },
  z.strictObject({
    type: name, operation: name, attempt: z.int().min(1), delay_seconds: z.number().min(0), error: text(8192),
    errorClass: z.enum(["transient", "deterministic", "ambiguous"]),
  }));
