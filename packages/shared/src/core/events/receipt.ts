import { z } from "zod";
import { defineEvent } from "./define.ts";
import { digest, name, text } from "./fields.ts";

/** The proof of completion. Its seq, the final check's seq and the ledger's running digest are filled in by the fold. */
export const receipt = defineEvent("receipt", { authorship: ["derived"], writers: ["scheduler", "checker"] },
  z.strictObject({
    goalDigest: digest, check: z.strictObject({ name, digest }), pinned: z.array(text(1024)).max(1000),
    revision: text(512).nullable(), evidenceDigest: digest,
  }));
