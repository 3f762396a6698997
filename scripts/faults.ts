// Writes docs/faults.md anew: which fault is injected by which test.
//
//   node scripts/run.mjs scripts/faults.ts
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { table } from "../test/support/faults/table.ts";

const root = join(import.meta.dirname, "..");
writeFileSync(join(root, "docs/faults.md"), table(root));
