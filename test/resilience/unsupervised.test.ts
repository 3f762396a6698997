import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { atStart, onKafka, reactors } from "./reactors.ts";

const root = join(import.meta.dirname, "../..");
/** What runs for as long as a serving process does. */
const folders = ["packages/shared/src/runtime", "packages/composition/src", "services/scheduler/src", "services/worker/src", "services/checker/src", "services/projector/src", "services/gateway/src"];
const sources = folders.flatMap((folder) => readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
  .filter((path) => /\.ts$/.test(path) && !path.endsWith(".test.ts"))
  .map((path) => ({ path: `${folder}/${path}`, text: readFileSync(join(root, folder, path), "utf8") })));

/** Timers whose end is awaited by a loop of its own, or that end with the process. */
const mayTime = [
  "packages/shared/src/runtime/supervision.ts", "packages/shared/src/runtime/appends.ts", "packages/shared/src/runtime/failpoints.ts",
  "packages/composition/src/process/process-end.ts", "packages/composition/src/process/draining.ts", "packages/composition/src/project/prepare.ts", "packages/composition/src/engine/lost-ledger.ts",
  "services/projector/src/feeding.ts",
];

/** Each line that begins to listen to a fold, with the lines that belong to it: those that stand further in, and the one that closes it. */
const listenings = (text: string): string[] => [...text.matchAll(/^( *)[^\n]*folds\.(?:listen|follow|onFolded)\([^\n]*(?:\n\1(?: |\})[^\n]*)*/gm)].map(([call]) => call);

test("whoever sets a timer or listens to a fold does so under a name", () => {
  const timers = sources.filter(({ path, text }) => !mayTime.includes(path) && /\bclock\.after\(|\bsetInterval\(|\bsetTimeout\(/.test(text)).map(({ path }) => path);
  expect(timers).toEqual([]);
  const unnamed = sources.flatMap(({ path, text }) => listenings(text).filter((call) => !/"[a-z.]+"\)/.test(call)).map((call) => `${path}: ${call.trim()}`));
  expect(unnamed).toEqual([]);
  expect(listenings("  const stop = folds.listen((change) => {\n    take(change);\n  });\n  done(\"x\");")).toEqual(["  const stop = folds.listen((change) => {\n    take(change);\n  });"]);
});

test("every name that is written somewhere in them is a row of the table", () => {
  const named = sources.flatMap(({ text }) => [...text.matchAll(/\bpart\("([a-z.]+)"\)|folds\.(?:listen|follow|onFolded)\([^\n]*?, "([a-z.]+)"\)/g)].map((match) => match[1] ?? match[2]));
  expect(named.length).toBeGreaterThan(10);
  const rows = new Set([...reactors.map(({ name }) => name), ...atStart, ...onKafka]);
  expect(named.filter((name) => name !== undefined && !rows.has(name))).toEqual([]);
});
