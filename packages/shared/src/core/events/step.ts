import { z } from "zod";
import { defineEvent } from "./define.ts";
import { digest, json, name } from "./fields.ts";

/** A named durable step inside a cycle; returned again when the cycle is run again. */
export const step = defineEvent("step", { authorship: ["owner"], writers: ["maker", "checker", "worker"] },
  z.strictObject({ name, inputDigest: digest, result: json }));
