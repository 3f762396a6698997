/** A disk that has no room for a run's own files: nothing is started, nothing is blamed, and it is tried again. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { checkTask, makerTask, running, sessionId, workbench } from "../../test/support.ts";

const disk = vi.hoisted(() => ({ refuses: null as { readonly code: string; readonly of: RegExp } | null }));
vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof import("node:fs/promises")>();
  const refused = (path: unknown): void => {
    if (disk.refuses?.of.test(String(path))) throw Object.assign(new Error(`${disk.refuses.code}: no room on the device`), { code: disk.refuses.code });
  };
  return {
    ...real,
    mkdir: async (...args: Parameters<typeof real.mkdir>) => (refused(args[0]), real.mkdir(...args)),
    writeFile: async (...args: Parameters<typeof real.writeFile>) => (refused(args[0]), real.writeFile(...args)),
    rm: async (...args: Parameters<typeof real.rm>) => (refused(args[0]), real.rm(...args)),
  };
});
afterEach(() => {
  disk.refuses = null;
});
function readOnly(): void {
  disk.refuses = { code: "EROFS", of: /run-[0-9a-f]+$/ };
}
const places = [
  ["ENOSPC", /run-[0-9a-f]+$/], ["ENOSPC", /stdin$/], ["ENOSPC", /prompt\.txt$/], ["EDQUOT", /stdin$/], ["EROFS", /run-[0-9a-f]+$/],
] as const;

test.each(places)("%s at %s: the maker is tried again, and another attempt is not charged", async (code, of) => {
  const bench = await workbench();
  disk.refuses = { code, of };
  const end = await bench.make({ makers: { m: { exec: "touch started", shell: true, effects: "external" } } }).maker("m")?.run(makerTask(), running());
  expect(end).toMatchObject({ kind: "failed", failure: "transient", message: expect.stringContaining(`${code} the files of the run cannot be written`) });
  expect(existsSync(join(bench.folder, "started"))).toBe(false);
});

test("a check could not be judged: neither red, also at iteration 0, nor a pass", async () => {
  const bench = await workbench();
  disk.refuses = { code: "ENOSPC", of: /stdin$/ };
  const run = await bench.make({ checks: { c: { exec: ["true"] } } }).check("c")?.run(checkTask(), running());
  expect(run).toMatchObject({
    verdict: "INCONCLUSIVE", cannotStart: false, shortOf: "ENOSPC",
    evidence: { why: "the check could not start: ENOSPC the files of the run cannot be written: no room on the device" },
  });
});

test("a tool says that nothing happened", async () => {
  const bench = await workbench();
  disk.refuses = { code: "ENOSPC", of: /stdin$/ };
  const call = { sessionId, epoch: 1 as never, key: "k", args: {} };
  const answer = await bench.make({ tools: { t: { exec: "touch started", shell: true, contract: "unsafe" } } }).tool("t")?.call(call, running().signal);
  expect(answer).toMatchObject({ kind: "failed", class: "transient" });
  expect(existsSync(join(bench.folder, "started"))).toBe(false);
});

test("any other fault of preparing is a fault of ours and is thrown", async () => {
  const bench = await workbench();
  disk.refuses = { code: "EINVAL", of: /stdin$/ };
  await expect(bench.make({ makers: { m: { exec: ["true"] } } }).maker("m")?.run(makerTask(), running())).rejects.toThrow("EINVAL");
});

test("a run whose files cannot be removed has ended all the same", async () => {
  const bench = await workbench();
  const maker = bench.make({ makers: { m: { exec: "echo made", shell: true } } }).maker("m");
  const end = maker?.run(makerTask(), { ...running(), live: () => readOnly() });
  expect(await end).toMatchObject({ kind: "built", result: { summary: "made" } });
});
