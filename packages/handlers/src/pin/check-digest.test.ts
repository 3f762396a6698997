import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder, workbench } from "../../test/support.ts";
import { type CheckDefinition, checkKinds } from "../config/definitions.ts";
import { checkDigest } from "./check-digest.ts";

const define = (value: object): CheckDefinition => ({ kind: "exec", ...checkKinds.exec.parse(value) });
async function project(files: Readonly<Record<string, string>>) {
  const folder = await temporaryFolder();
  const write = async (path: string, content: string) => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  };
  for (const [path, content] of Object.entries(files)) await write(path, content);
  const pin = (check: object, protect: readonly string[] = []) => checkDigest(define(check), { folder, protect });
  return { folder, write, pin };
}
const manifest = (scripts: Record<string, string>, more: object = {}) => JSON.stringify({ name: "x", scripts, ...more });

test("npm test pins the script with its pre and post, and nothing else of the manifest", async () => {
  const { write, pin } = await project({ "package.json": manifest({ pretest: "tsc", test: "node --test", posttest: "echo", lint: "x" }) });
  const first = await pin({ exec: ["npm", "test"] });
  expect(first.pinned).toEqual(["package.json scripts.posttest", "package.json scripts.pretest", "package.json scripts.test"]);
  await write("package.json", manifest({ pretest: "tsc", test: "node --test", posttest: "echo", lint: "y" }, { dependencies: { a: "1" } }));
  expect(await pin({ exec: ["npm", "test"] })).toEqual(first);
  await write("package.json", manifest({ pretest: "tsc", test: "true", posttest: "echo" }));
  expect((await pin({ exec: ["npm", "test"] })).digest).not.toBe(first.digest);
  expect((await pin({ exec: ["npm", "test"] })).pinned).toEqual(first.pinned);
});

test.each([
  [["npm", "run", "check"], ["package.json scripts.check"]], [["npm", "--silent", "t"], ["package.json scripts.test"]], [["pnpm", "check"], ["package.json scripts.check"]],
  [["yarn", "run", "check"], ["package.json scripts.check"]], [["npm", "install"], []], [["make", "test"], ["Makefile"]], [["pytest", "-q"], ["conftest.py", "pyproject.toml"]],
  [["python3", "-m", "pytest"], ["conftest.py", "pyproject.toml"]], [["python3", "tests/run.py"], ["tests/run.py"]], [["go", "test", "./..."], ["go.mod"]], [["cargo", "test"], ["Cargo.toml"]],
  [["./check.sh", "--strict", "--config=conf/a.json"], ["check.sh", "conf/a.json"]], [["node", "../outside.mjs", "/etc/passwd", "missing.mjs"], []], [["true"], []],
])("%j pins %j", async (exec, pinned) => {
  const { pin } = await project({
    "package.json": manifest({ test: "t", check: "c" }), Makefile: "test:\n", "pyproject.toml": "", "conftest.py": "", "go.mod": "", "Cargo.toml": "", "tests/run.py": "", "check.sh": "", "conf/a.json": "{}",
  });
  expect((await pin({ exec })).pinned).toEqual(pinned);
});

test.each([
  ["a time limit", { timeoutSeconds: 5 }], ["a limit of silence", { idleSeconds: 5 }], ["a variable that is handed on", { env: ["CI"] }], ["all of them", { env: ["A", "B"], timeoutSeconds: 1, idleSeconds: 2 }],
])("how it is run is no part of what it is: %s", async (_what, options) => {
  const { pin } = await project({ "a.sh": "1" });
  expect(await pin({ exec: ["sh", "a.sh"], ...options })).toEqual(await pin({ exec: ["sh", "a.sh"] }));
});

test.each([
  ["its words", { exec: ["sh", "a.sh", "-x"] }], ["a shell", { exec: ["sh a.sh"], shell: true }], ["its folder", { exec: ["sh", "a.sh"], cwd: "." }], ["its globs", { exec: ["sh", "a.sh"], pin: ["b*"] }],
])("what it is is: %s", async (_what, check) => {
  const { pin } = await project({ "a.sh": "1" });
  expect((await pin(check)).digest).not.toBe((await pin({ exec: ["sh", "a.sh"] })).digest);
});

test("of a check behind HTTP the time limits are left out, its address is not", async () => {
  const { folder } = await project({});
  const digest = async (http: object, more: object = {}) => (await checkDigest({ kind: "http", ...checkKinds.http.parse({ http, ...more }) }, { folder, protect: [] })).digest;
  const first = await digest({ url: "http://127.0.0.1:1/check" });
  expect(await digest({ url: "http://127.0.0.1:1/check", timeoutSeconds: 3 }, { timeoutSeconds: 4 })).toBe(first);
  expect(await digest({ url: "http://127.0.0.1:1/other" })).not.toBe(first);
});

test("a shell's line pins the files that it names", async () => {
  const { pin, write } = await project({ "a.sh": "1", "b.sh": "2" });
  const first = await pin({ exec: "./a.sh && (sh b.sh | tee log)", shell: true });
  expect(first.pinned).toEqual(["a.sh", "b.sh"]);
  await write("b.sh", "3");
  expect((await pin({ exec: "./a.sh && (sh b.sh | tee log)", shell: true })).digest).not.toBe(first.digest);
});

test.each([
  [{ exec: ["test", "-f", "out.txt"] }, []], [{ exec: ["grep", "-q", "ok", "out.txt"] }, []], [{ exec: ["/usr/bin/cmp", "out.txt", "a.sh"] }, []],
  [{ exec: "./a.sh && ! grep -q bad out.txt", shell: true }, ["a.sh"]], [{ exec: "sh a.sh > out.txt 2>&1; test -s out.txt", shell: true }, ["a.sh"]],
  [{ exec: "sh a.sh | tee out.txt", shell: true }, ["a.sh"]],
])("what a check only looks at is the work that is judged, and not pinned: %j pins %j", async (check, pinned) => {
  const { pin } = await project({ "a.sh": "1", "out.txt": "2" });
  expect((await pin(check)).pinned).toEqual(pinned);
});

test("globs of the check and of the operator pin what they match: changed, added and removed files change the digest", async () => {
  const { folder, write, pin } = await project({ "test/a.test.js": "1", "test/deep/b.test.js": "2", "src/x.js": "3", "spec/c": "4", "node_modules/m/test/x.test.js": "5" });
  const check = { exec: ["true"], pin: ["**/*.test.js"] };
  const digests: string[] = [];
  const note = async () => digests.push((await pin(check, ["spec"])).digest);
  expect((await pin(check, ["spec"])).pinned).toEqual(["spec/c", "test/a.test.js", "test/deep/b.test.js"]);
  await note();
  await write("test/a.test.js", "changed");
  await note();
  await write("test/new.test.js", "");
  await note();
  await rm(join(folder, "test/deep"), { recursive: true });
  await note();
  await write("spec/d", "");
  await note();
  expect(new Set(digests).size).toBe(5);
  await write("src/x.js", "changed");
  await note();
  expect(new Set(digests).size).toBe(5);
});

test("the definition is part of the digest, and the folder's place is not", async () => {
  const one = await project({ "check.sh": "x" });
  const two = await project({ "check.sh": "x" });
  const check = { exec: ["./check.sh"] };
  expect(await one.pin(check)).toEqual(await two.pin(check));
  expect((await one.pin({ exec: ["./check.sh", "--lax"] })).digest).not.toBe((await one.pin(check)).digest);
});

test("more than a thousand pinned files are listed short and covered all the same", async () => {
  const { pin, write } = await project(Object.fromEntries(Array.from({ length: 1005 }, (_, i) => [`t/${String(i).padStart(4, "0")}`, ""])));
  const first = await pin({ exec: ["true"], pin: ["t"] });
  expect([first.pinned.length, first.pinned.at(-1)]).toEqual([1000, "and 6 more"]);
  await write("t/1004", "changed");
  expect((await pin({ exec: ["true"], pin: ["t"] })).digest).not.toBe(first.digest);
});

test("a check runs, pins and has its revision in the folder that it names", async () => {
  const bench = await workbench({ protect: ["guard"] });
  await mkdir(join(bench.folder, "inner"));
  await writeFile(join(bench.folder, "inner", "guard"), "g");
  await writeFile(join(bench.folder, "inner", "check.sh"), "exit 0");
  const check = bench.make({ checks: { c: { exec: ["sh", "check.sh"], cwd: "inner" } } }).check("c");
  expect((await check?.pin())?.pinned).toEqual(["check.sh", "guard"]);
  const before = await check?.revision();
  expect(before).toMatch(/^files:/);
  await writeFile(join(bench.folder, "outer"), "o");
  expect(await check?.revision()).toBe(before);
});
