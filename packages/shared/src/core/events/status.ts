import { z } from "zod";
import { defineEvent } from "./define.ts";
import { disposition, json, reason, text } from "./fields.ts";

/** An act that ends or suspends, or the report of a derived end. Never the authority: status is what the fold derives. */
export const status = defineEvent("status", { authorship: ["owner", "derived"], writers: ["worker", "checker", "scheduler"] },
  z.strictObject({ disposition, reason: reason.nullable(), error: text(8192).nullable(), detail: json.optional() }));
