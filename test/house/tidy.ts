// The house rules that are about text: sizes, names, words, and how tests wait.
//
//   node test/house/tidy.ts [ROOT]     prints each breach with its repair; ends with 1 where there is one
import { resolve } from "node:path";
import { exportBreaches } from "./export-rules.ts";
import { nameBreaches } from "./name-rules.ts";
import { sizeBreaches } from "./size-rules.ts";
import { type Breach, listFiles, readSources } from "./sources.ts";
import { testBreaches } from "./test-rules.ts";
import { wordBreaches } from "./word-rules.ts";

/** Every breach of the text rules below `root`. */
export function tidyBreaches(root: string): Breach[] {
  const sources = readSources(root);
  return [
    ...nameBreaches(listFiles(root)),
    ...sizeBreaches(sources),
    ...wordBreaches(sources),
    ...testBreaches(sources),
    ...exportBreaches(root, sources),
  ];
}

/** One line for people: `path:line rule: what was found; what to do`. */
export function describeBreach({ path, line, rule, found, fix }: Breach): string {
  return `${path}:${line} ${rule}: ${found}; ${fix}`;
}

if (import.meta.main) {
  const breaches = tidyBreaches(resolve(process.argv[2] ?? resolve(import.meta.dirname, "../..")));
  for (const breach of breaches) process.stdout.write(`${describeBreach(breach)}\n`);
  process.exitCode = breaches.length > 0 ? 1 : 0;
}
