import { z } from "zod";
import { defineEvent } from "./define.ts";
import { name, text } from "./fields.ts";

/** A schedule's due time and what became of it. */
export const tick = defineEvent("tick", { authorship: ["act"], writers: ["scheduler"] },
  z.strictObject({ schedule: name, due: text(64), became: z.enum(["ran", "no_mutation_owed", "non_run", "missed", "overlap"]), why: text(2048) }));
