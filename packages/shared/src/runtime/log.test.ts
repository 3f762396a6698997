import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";

/** Runs the lines in a process of their own and gives what it logged, and what it printed. */
function run(lines: string): { readonly logged: Record<string, unknown>[]; readonly printed: unknown } {
  const script = `
    import { createRequire } from "node:module";
    import { makeLog } from ${JSON.stringify(new URL("log.ts", import.meta.url).href)};
    const loaded = () => Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes("pino"));
    ${lines}`;
  const { stdout, stderr, status } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  expect(status, stderr).toBe(0);
  return { logged: stderr.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line) as Record<string, unknown>), printed: JSON.parse(stdout || "null") };
}

it("says what its level lets through, a child its own bindings too", () => {
  const { logged } = run(`
    const log = makeLog("warn", { roles: "worker" });
    log.debug("no"); log.info({ a: 1 }, "no"); log.warn({ session: "s" }, "first"); log.child({ part: "p" }).error({ err: new Error("broken"), token: "secret" }, "second");`);
  expect(logged.map((line) => line["msg"])).toEqual(["first", "second"]);
  expect(logged[0]).toMatchObject({ level: 40, roles: "worker", session: "s" });
  expect(logged[1]).toMatchObject({ level: 50, roles: "worker", part: "p", token: "[redacted]", err: { message: "broken" } });
});

it("is opened by the first line that is written, and by no other", () => {
  const { logged, printed } = run(`
    const log = makeLog("error"); const child = log.child({ part: "p" });
    log.info("no"); child.warn("no"); const before = loaded();
    child.error("yes"); process.stdout.write(JSON.stringify([before, loaded()]));`);
  expect(printed).toEqual([false, true]);
  expect(logged).toMatchObject([{ msg: "yes", part: "p" }]);
});
