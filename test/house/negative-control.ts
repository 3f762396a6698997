// Shows that the gates go red: breaks each rule once, in a copy of the checkout, and asks the tool that
// guards the rule. The checkout itself is not touched.
//
// 1. A violation counts as caught when its tool leaves with an error and its report names both the file
//    of the violation and the rule; an error about anything else does not count.
// 2. Each tool sees only the violations it has to catch, so one cannot hide behind another: a core file
//    that imports a client would bring ambient types in and blind the purity check for its neighbours.
// 3. A tool runs once for all of its violations; the control takes seconds and runs on every change.
import { spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Tool, Violation } from "./violation.ts";
import { companions, targets, violations } from "./violations.ts";

const root = resolve(import.meta.dirname, "../..");

const WORKER_TSCONFIG = JSON.stringify({
  extends: "./tsconfig.base.json",
  include: ["services/worker/src/control-*.ts"],
  exclude: ["**/*.test.ts"],
});

const commands: Readonly<Record<Tool, readonly [string, ...string[]]>> = {
  deps: ["depcruise", "packages", "services", "infra", "--config", ".dependency-cruiser.mjs", "--output-type", "err"],
  lint: ["biome", "lint", "--diagnostic-level=error", "--reporter=json", "--max-diagnostics=none"],
  purity: ["tsc", "-p", "packages/shared/tsconfig.core.json", "--pretty", "false"],
  types: ["tsc", "-p", "tsconfig.control.json", "--pretty", "false"],
  boundaries: ["turbo", "boundaries", "--no-color"],
  tidy: [process.execPath, join(root, "test/house/tidy.ts"), "."],
};

/** Copies a file or folder; links stay links, so a package's node_modules point into the copy as they did outside. */
function copy(path: string, into: string): void {
  const from = join(root, path);
  const found = lstatSync(from, { throwIfNoEntry: false });
  if (found === undefined) return;
  mkdirSync(dirname(join(into, path)), { recursive: true });
  if (found.isSymbolicLink()) symlinkSync(readlinkSync(from), join(into, path));
  else if (found.isFile()) copyFileSync(from, join(into, path));
  else if (found.isDirectory()) for (const name of readdirSync(from)) copy(join(path, name), into);
}

function linkModules(into: string): void {
  const modules = join(root, "node_modules");
  mkdirSync(join(into, "node_modules"));
  for (const name of readdirSync(modules)) {
    if (name === "@loopledger" || name === "loopledger") copy(`node_modules/${name}`, into);
    else symlinkSync(join(modules, name), join(into, "node_modules", name));
  }
}

function write(base: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), text);
  }
}

/** A copy of what the tools look at, with the same modules and a history of its own for those that ask git. */
async function makeCopy(): Promise<string> {
  const base = mkdtempSync(join(tmpdir(), "loopledger-control-"));
  const files = readdirSync(root).filter((name) => /^(\.dependency-cruiser|biome|turbo|tsconfig|package\.json|pnpm-)/.test(name));
  for (const name of [...files, "packages", "services", "infra", "test/house"]) copy(name, base);
  linkModules(base);
  write(base, targets);
  write(base, { "tsconfig.control.json": WORKER_TSCONFIG, ".gitignore": "node_modules\n" });
  await execute(["git", "init", "--quiet"], base);
  return base;
}

interface Ended {
  readonly code: number;
  readonly output: string;
}

function execute([program, ...args]: readonly [string, ...string[]], base: string): Promise<Ended> {
  const local = join(root, "node_modules", ".bin", program);
  return new Promise((done, fail) => {
    const child = spawn(existsSync(local) ? local : program, args, { cwd: base, stdio: ["ignore", "pipe", "pipe"] });
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.on("error", fail);
    child.on("close", (code) => done({ code: code ?? 1, output: Buffer.concat(chunks).toString("utf8") }));
  });
}

interface LintReport {
  readonly diagnostics: readonly { category?: string; severity: string; location?: { path?: unknown } }[];
}

/** The findings of a tool, one text each, so that file and rule have to stand in the same finding. */
function findings(tool: Tool, output: string): string[] {
  if (tool === "lint") {
    const json = output.split("\n").find((line) => line.startsWith("{")) ?? "{}";
    const { diagnostics } = JSON.parse(json) as LintReport;
    return diagnostics
      .filter(({ severity }) => severity === "error")
      .map(({ category, location }) => `${JSON.stringify(location?.path)} ${category}`);
  }
  if (tool === "deps") return output.split(/\n(?= *error )/);
  return tool === "boundaries" ? output.split(/\n\s*\n/) : output.split("\n");
}

function isCaught({ path, rule }: Violation, { code, reported }: { code: number; reported: readonly string[] }): boolean {
  return code !== 0 && reported.some((finding) => finding.includes(path) && finding.includes(rule));
}

/** Puts the tool's violations into the copy, runs the tool, takes them out again; returns the caught ones. */
async function caughtBy(tool: Tool, base: string): Promise<Violation[]> {
  const injected = violations.filter((violation) => violation.tool === tool);
  const files = { ...(tool === "deps" ? companions : {}), ...Object.fromEntries(injected.map((violation) => [violation.path, violation.code])) };
  write(base, files);
  const { code, output } = await execute(commands[tool], base);
  for (const path of Object.keys(files)) rmSync(join(base, path));
  const reported = findings(tool, output);
  const caught = injected.filter((violation) => isCaught(violation, { code, reported }));
  if (caught.length < injected.length) process.stdout.write(`${tool} ended with ${code} and said:\n${output.slice(0, 6000)}\n`);
  return caught;
}

async function main(): Promise<number> {
  const base = await makeCopy();
  try {
    const caught = new Set<Violation>();
    for (const tool of Object.keys(commands) as Tool[]) {
      for (const violation of await caughtBy(tool, base)) caught.add(violation);
    }
    for (const violation of violations) {
      process.stdout.write(`${caught.has(violation) ? "caught" : "MISSED"}  ${violation.tool.padEnd(10)}  ${violation.what}\n`);
    }
    process.stdout.write(`${caught.size} of ${violations.length} injected violations caught\n`);
    return caught.size === violations.length ? 0 : 1;
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

process.exitCode = await main();
