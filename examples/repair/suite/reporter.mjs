import { writeSync } from "node:fs";

/** The descriptor on which run-suite.mjs listens: what tests print on stdout is not mistaken for a result. */
const RESULTS = 3;

/**
 * A reporter for `node --test` that writes one JSON line a finished test and a last line that says the run came to its
 * end: whoever reads them can tell a complete run from one that was cut off.
 */
// biome-ignore lint/correctness/useYield: a reporter is an async generator; this one has nothing to say on stdout.
export default async function* report(events) {
  /** @type {Map<string, string[]>} the names of the tests that are open, by file, outermost first */
  const open = new Map();
  for await (const { type, data } of events) {
    const file = data?.file ?? "";
    if (type === "test:start") {
      const names = (open.get(file) ?? []).slice(0, data.nesting);
      names[data.nesting] = data.name;
      open.set(file, names);
    }
    if ((type === "test:pass" || type === "test:fail") && isOwnResult(data)) {
      const parents = (open.get(file) ?? []).slice(0, data.nesting);
      write(row(type === "test:pass", file, [...parents, data.name], data));
    }
  }
  write({ end: true });
}

function write(value) {
  writeSync(RESULTS, `${JSON.stringify(value)}\n`);
}

/** Suites, and tests that failed only because a test inside them did, say nothing of their own. */
function isOwnResult(data) {
  if (data.details?.type === "suite") return false;
  return data.details?.error?.failureType !== "subtestsFailed";
}

function row(passed, file, names, data) {
  const skipped = data.skip !== undefined || data.todo !== undefined;
  const error = data.details?.error;
  const reason = error?.cause?.message ?? error?.cause ?? error?.message ?? "";
  return { file, name: names.join(" > "), passed, skipped, line: data.line ?? 0, reason: passed ? "" : String(reason) };
}
