import { z } from "zod";
import { defineEvent } from "./define.ts";
import { cycle, leafId, text } from "./fields.ts";

/** A cycle is owed. `iteration` is 0 for the failure-first review, else the build's number. */
export const dispatched = defineEvent("dispatched", { authorship: ["derived"], writers: ["scheduler"] },
  z.strictObject({ cycle, leaf: leafId, iteration: z.int().min(0), task: text(200_000) }));
