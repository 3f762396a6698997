/**
 * Loaded before a test file (`node --import`): notes which ranges of which source file each test of it executes, by
 * V8's own block coverage, read and reset around every test. The notes go out beside the test results when the process ends.
 */
import { writeSync } from "node:fs";
import { Session } from "node:inspector";
import { afterEach, beforeEach } from "node:test";
import { fileURLToPath } from "node:url";

const session = new Session();
session.connect();
call("Profiler.enable");
call("Profiler.startPreciseCoverage", { callCount: true, detailed: true });

/** @type {{ name: string, files: { file: string, ranges: [number, number, number][] }[] }[]} */
const spectra = [];
/** The test hooks are told about every level: a note belongs to the innermost test that is open. */
beforeEach(() => {
  take();
});
afterEach((test) => {
  spectra.push({ name: test.name, files: take() });
});
process.on("exit", () => {
  writeSync(3, `${JSON.stringify({ spectra })}\n`);
});

/** An inspector session on its own thread answers before `post` returns. */
function call(method, params) {
  let answer;
  session.post(method, params, (error, result) => {
    if (error) throw error;
    answer = result;
  });
  return answer;
}

function take() {
  const { result } = call("Profiler.takePreciseCoverage");
  return result
    .filter(({ url }) => url.startsWith("file:") && !url.includes("/node_modules/"))
    .map(({ url, functions }) => ({
      file: fileURLToPath(url),
      ranges: functions.flatMap((part) => part.ranges.map((range) => [range.startOffset, range.endOffset, range.count])),
    }));
}
