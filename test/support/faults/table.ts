/** The table of faults, made of the catalogue and of the names of the tests. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { testNames } from "../../docs/test-names.ts";
import { faults as killed } from "../worlds/fault-plan.ts";
import { deliveries } from "./deliveries.ts";
import { misuse } from "./misuse.ts";
import { processes } from "./processes.ts";
import type { FaultRow, TestPlace } from "./row.ts";

export const catalogue: readonly FaultRow[] = [...processes, ...deliveries, ...misuse];

/** The tests that take every fault of the plan of points in turn: their names hold the plan's titles. */
const ofThePlan: TestPlace = { file: "test/recovery/kills.test.ts", name: "$title: the next one goes on, and the effect is made once" };

const numbersIn = (title: string): number[] => [...title.matchAll(/\bF(\d+)\b/g)].map(([, number]) => Number(number));

/** Which tests have which numbers in their names, or in those of the groups around them. */
function numbered(root: string): Map<number, TestPlace[]> {
  const found = new Map<number, TestPlace[]>();
  const note = (number: number, place: TestPlace): void => void found.set(number, [...(found.get(number) ?? []), place]);
  for (const file of globSync("test/**/*.test.ts", { cwd: root }).sort()) {
    for (const { whole } of testNames(join(root, file))) {
      for (const number of new Set(whole.flatMap(numbersIn))) note(number, { file, name: whole.join(" › ") });
    }
  }
  for (const number of new Set(killed.flatMap(({ title }) => numbersIn(title)))) note(number, ofThePlan);
  return found;
}

export interface Injected extends FaultRow {
  readonly by: readonly TestPlace[];
}
/** Every fault with the tests that inject it. */
export function injected(root: string): Injected[] {
  const byName = numbered(root);
  return catalogue.map((row) => ({ ...row, by: [...(byName.get(row.number) ?? []), ...(row.tests ?? [])] }));
}
/** Numbers in names of tests that the catalogue does not have. */
export function strangers(root: string): number[] {
  return [...numbered(root).keys()].filter((number) => !catalogue.some((row) => row.number === number));
}

const head = `# Faults, and the tests that inject them

Made by \`node scripts/run.mjs scripts/faults.ts\` of the catalogue in \`test/support/faults\` and of the names of the tests (\`F7\` in a name
is fault 7); \`test/docs/faults.test.ts\` sees to it that it is up to date. What a process dies of is injected at every failpoint three
times: killed, stopped beyond its lease and woken, and made to throw (\`test/recovery/kills.test.ts\`).

| fault | what | injected by |
|---|---|---|
`;
export function table(root: string): string {
  const lines = injected(root).map(({ number, what, by, why }) => {
    const tests = by.map(({ file, name }) => `\`${file}\` \`${name}\``).join("<br>");
    return `| ${number} | ${what} | ${by.length > 0 ? tests : `none: ${why ?? ""}`} |`;
  });
  return `${head}${lines.join("\n")}\n`;
}
export const read = (root: string): string => readFileSync(join(root, "docs/faults.md"), "utf8");
