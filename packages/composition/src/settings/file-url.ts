/** A folder that is named as a URL: `file:///shared/blobs`. */
import { fileURLToPath } from "node:url";
import { z } from "zod";

/** The absolute path of a `file:` URL. */
export const fileUrl = z.string().transform((text, context) => {
  try {
    return fileURLToPath(new URL(text));
  } catch {
    context.addIssue({ code: "custom", message: `${JSON.stringify(text)} is no file: URL of an absolute folder, such as file:///shared/blobs` });
    return z.NEVER;
  }
});
