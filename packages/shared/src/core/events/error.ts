import { z } from "zod";
import { defineEvent } from "./define.ts";
import { name, text } from "./fields.ts";

/** Something went wrong that belongs in the history; it changes nothing by itself. */
export const error = defineEvent("error", { authorship: ["owner", "act"], writers: ["human", "intake", "scheduler", "worker", "maker", "checker"] },
  z.strictObject({ class: z.enum(["transient", "deterministic", "ambiguous"]), code: name, message: text(8192) }));
