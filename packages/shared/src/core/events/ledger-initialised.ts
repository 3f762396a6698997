import { z } from "zod";
import { defineEvent } from "./define.ts";
import { name } from "./fields.ts";

/** One a partition, key `_ledger/<p>`: a ledger that was deleted and made anew is never read as the old one. */
export const ledgerInitialised = defineEvent("ledger_initialised", { authorship: ["store"], writers: ["store"] },
  z.strictObject({ ledgerId: name, partitions: z.int().min(1), format: z.literal(1) }));
