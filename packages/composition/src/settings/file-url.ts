/** A folder that is named as a URL: `file:///shared/blobs`. */
import { fileURLToPath } from "node:url";
import { z } from "zod";
import type { Variables } from "../environment.ts";

/** The absolute path of a `file:` URL. */
export const fileUrl = z.string().transform((text, context) => {
  try {
    return fileURLToPath(new URL(text));
  } catch {
    context.addIssue({ code: "custom", message: `${JSON.stringify(text)} is no file: URL of an absolute folder, such as file:///shared/blobs` });
    return z.NEVER;
  }
});

/** The folder that `LOOPLEDGER_BLOBS_URL` names; null where it names none. */
export function namedBlobs(variables: Variables): string | null {
  const { success, data } = fileUrl.safeParse(variables["LOOPLEDGER_BLOBS_URL"]);
  return success ? data : null;
}
