import { z } from "zod";
import { defineEvent } from "./define.ts";
import { amounts, name } from "./fields.ts";

/** Budget set aside before it is spent; settled by the record whose usage names the id. */
export const reserved = defineEvent("reserved", { authorship: ["owner"], writers: ["maker", "worker", "checker"] },
  z.strictObject({ id: name, amounts }));
