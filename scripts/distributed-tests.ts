import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { root } from "./gates.ts";

/** What a test file imports where it needs a real Kafka, Redis or registry. */
const PARTS = join(root, "test", "support", "parts");
/** Without this one a run has not shown that the ledger holds on Kafka. */
const INDISPENSABLE = "test/contract/kafka.test.ts";

function importsOf(file: string): string[] {
  const text = readFileSync(file, "utf8");
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"?]+)/g)].map(([, path = ""]) => join(dirname(file), path));
}

function reaches(file: string, seen: Set<string>): boolean {
  if (file.startsWith(PARTS)) return true;
  if (seen.has(file) || !existsSync(file)) return false;
  seen.add(file);
  return importsOf(file).some((imported) => reaches(imported, seen));
}

/** Test files that need real parts, from the root of the checkout: those that import them, through whatever other file. */
export function distributedTests(): string[] {
  const files = globSync(["packages/**/*.test.ts", "services/**/*.test.ts", "test/**/*.test.ts"], { cwd: root, exclude: (name) => name === "node_modules" || name.startsWith(".") });
  return files.filter((file) => reaches(join(root, file), new Set())).sort();
}

interface FileResult {
  readonly name: string;
  readonly assertionResults: readonly { readonly status: string }[];
}

/** The distributed files of which no test passed in a report; what must not be empty was not run. */
export function missingSuites(report: string, expected: readonly string[] = distributedTests()): string[] {
  const { testResults } = existsSync(report) ? (JSON.parse(readFileSync(report, "utf8")) as { testResults: readonly FileResult[] }) : { testResults: [] };
  const ran = new Set(testResults.filter((file) => file.assertionResults.some(({ status }) => status === "passed")).map(({ name }) => relative(root, name)));
  return [...new Set([...expected, INDISPENSABLE])].filter((file) => !ran.has(file));
}
