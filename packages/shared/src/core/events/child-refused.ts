import { z } from "zod";
import { defineEvent } from "./define.ts";
import { digest } from "./fields.ts";

/** The bound that refused a child. */
export const childRefused = defineEvent("child_refused", { authorship: ["derived"], writers: ["scheduler"] },
  z.strictObject({ goalDigest: digest, bound: z.enum(["depth", "width", "total"]), limit: z.int().min(0) }));
