import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./gates.ts";

/** What a run of the tests came to. A file that could not even be loaded counts as one failed test. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  /** Neither passed nor failed: no test may be skipped, so this must be 0. */
  readonly other: number;
}

interface FileResult {
  readonly status: string;
  readonly assertionResults: readonly { readonly status: string }[];
}

/** Counts the results of a vitest JSON report. */
export function countResults(files: readonly FileResult[]): Counts {
  const statuses = files.flatMap((file) => file.assertionResults.map((result) => result.status));
  const passed = statuses.filter((status) => status === "passed").length;
  const failed = statuses.filter((status) => status === "failed").length;
  const brokenFiles = files.filter(
    (file) => file.status === "failed" && !file.assertionResults.some((result) => result.status === "failed"),
  ).length;
  return { passed, failed: failed + brokenFiles, other: statuses.length - passed - failed };
}

function runVitest(args: readonly string[], variables: Readonly<Record<string, string>>): Promise<number> {
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, [vitest, "run", ...args], {
      cwd: root, env: { ...process.env, ...variables }, stdio: ["ignore", "inherit", "inherit"],
    });
    child.on("error", fail);
    child.on("close", (code) => done(code ?? 1));
  });
}

/** Counts a report file; where there is none, the run itself has failed, and that counts as one. */
export function readCounts(report: string): Counts {
  if (!existsSync(report)) return { passed: 0, failed: 1, other: 0 };
  const { testResults } = JSON.parse(readFileSync(report, "utf8")) as { testResults: readonly FileResult[] };
  return countResults(testResults);
}

export interface TestRunOptions {
  /** Where the report goes; its folder is made. */
  readonly report: string;
  /** Files that are left out. */
  readonly excluded?: readonly string[];
  /** Real services are up before the first test, so that no test waits for a download. */
  readonly startsParts?: boolean;
}

/**
 * Runs the tests once and reads the counts from the report that vitest itself wrote.
 * @param paths folders or files, none for all of them
 */
export async function runTests(paths: readonly string[], { report, excluded = [], startsParts = false }: TestRunOptions): Promise<{ code: number; counts: Counts }> {
  rmSync(report, { force: true });
  mkdirSync(dirname(report), { recursive: true });
  const words = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`, ...excluded.map((file) => `--exclude=${file}`), ...paths];
  const code = await runVitest(words, startsParts ? { LOOPLEDGER_TEST_PARTS: "at-once" } : {});
  const counts = readCounts(report);
  const sound = counts.failed === 0 && counts.other === 0 && counts.passed > 0;
  return { code: sound ? code : code || 1, counts };
}
