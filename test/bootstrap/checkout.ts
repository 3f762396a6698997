import { type ChildProcessByStdio, spawn } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Readable } from "node:stream";

const source = resolve(import.meta.dirname, "../..");

/** Says who it is, then works until it is told to stop; `leave N` ends it with code N at once. */
const PROGRAM = `
const [command, code] = process.argv.slice(2);
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => { process.stdout.write(signal + "\\n"); process.exit(signal === "SIGINT" ? 41 : 42); });
}
process.stdout.write(JSON.stringify({ pid: process.pid, cwd: process.cwd(), args: process.argv.slice(2) }) + "\\n");
if (command === "leave") process.exit(Number(code));
setInterval(() => undefined, 1000);
`;

/** A checkout in small: the real bootstrap around a program of a few lines and a pnpm that writes down its calls. */
export interface SmallCheckout {
  readonly root: string;
  write(path: string, text: string): void;
  remove(): void;
}

export function makeCheckout(): SmallCheckout {
  const root = mkdtempSync(join(tmpdir(), "loopledger-bootstrap-"));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  write("package.json", '{ "type": "module", "packageManager": "pnpm@0.0.0-control" }');
  write("pnpm-lock.yaml", "lockfileVersion: 0\n");
  write("pnpm-workspace.yaml", "packages: []\n");
  write("packages/cli/package.json", '{ "type": "module" }');
  write("services/worker/package.json", '{ "type": "module" }');
  write("infra/package.json", '{ "type": "module" }');
  write("packages/cli/src/main.ts", PROGRAM);
  cpSync(join(source, "scripts"), join(root, "scripts"), { recursive: true });
  mkdirSync(join(root, "bin"));
  copyFileSync(join(source, "bin/loopledger"), join(root, "bin/loopledger"));
  write(".cache/pnpm-0.0.0-control/node_modules/.bin/pnpm", '#!/bin/sh\necho "$@" >> "${0%/*}/calls"\necho installing\n');
  chmodSync(join(root, ".cache/pnpm-0.0.0-control/node_modules/.bin/pnpm"), 0o755);
  mkdirSync(join(root, "node_modules/node/bin"), { recursive: true });
  symlinkSync(process.execPath, join(root, "node_modules/node/bin/node"));
  return { root, write, remove: () => rmSync(root, { recursive: true, force: true }) };
}

export const PNPM_CALLS = ".cache/pnpm-0.0.0-control/node_modules/.bin/calls";

export interface Started {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  readonly pid: number;
  /** Everything that it has written so far. */
  output(): { readonly stdout: string; readonly stderr: string };
  /** Resolves with its exit code, or the name of the signal that ended it. */
  readonly ended: Promise<number | string>;
}

/** Starts a program with no input; `cwd` is where it is started from. */
export function start(command: readonly [string, ...string[]], cwd: string): Started {
  const [program, ...args] = command;
  const child = spawn(program, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString("utf8");
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString("utf8");
  });
  const ended = new Promise<number | string>((done, fail) => {
    child.on("error", fail);
    child.on("close", (code, signal) => done(code ?? signal ?? "unknown"));
  });
  return { child, pid: child.pid ?? -1, output: () => ({ stdout, stderr }), ended };
}
