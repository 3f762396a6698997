/** A folder of a test's own, away from the checkout, and gone afterwards. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function makeFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "loopledger-contract-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
