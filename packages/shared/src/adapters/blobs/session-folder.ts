/** The folder name of a session: one for each id, and never a way out of the store. */
import { hash } from "node:crypto";

/** File systems take 255 bytes; what would be longer is cut and told apart by its digest. */
const NAME_MAX = 200;
const HEAD_MAX = 100;

export function sessionFolder(sessionId: string): string {
  // Percent-escapes leave letters, digits and a few marks; a dot at the start would hide the folder or leave it.
  const name = encodeURIComponent(sessionId.toWellFormed()).replace(/^\./, "%2E");
  if (name.length > NAME_MAX) return `${name.slice(0, HEAD_MAX)}~${hash("sha256", sessionId)}`;
  return name === "" ? "%" : name;
}
