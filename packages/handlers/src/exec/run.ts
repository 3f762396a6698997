/** Prepares a program's run (files, environment, step token), has it supervised, and collects what it left. */
import { randomBytes } from "node:crypto";
import { constants, existsSync } from "node:fs";
import { mkdir, open, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { StepApi } from "@loopledger/shared/core/effects/handling";
import type { SessionId } from "@loopledger/shared/core/brand";
import type { CycleLog } from "@loopledger/shared/core/events/fields";
import type { Json } from "@loopledger/shared/core/json";
import { passingFault } from "@loopledger/shared/core/retry/passing";
import type { ExecDefinition } from "../config/definitions.ts";
import type { HandlersDeps } from "../deps.ts";
import { type JsonRead, readJson } from "../results/json-text.ts";
import { stepGate } from "../steps/gate.ts";
import { type Ended, cannotStart, launch, runFolderOf } from "../supervisor/launch.ts";
import { afterEarlier } from "../supervisor/live.ts";
import { environmentFor } from "./environment.ts";
import { openLiveFile } from "./live-file.ts";
import { Output } from "./output.ts";
import { Redactor, secretValues } from "../results/redactor.ts";

export interface ExecRun {
  readonly definition: ExecDefinition;
  readonly deps: HandlersDeps;
  readonly sessionId: SessionId;
  readonly epoch: number;
  readonly kind: "cycle" | "tool";
  /** What the program reads on stdin. */
  readonly stdin: string;
  /** `LOOPLEDGER_…` variables beside those that every run has. */
  readonly engine: Readonly<Record<string, string>>;
  /** Text of the file that LOOPLEDGER_PROMPT_FILE names. */
  readonly prompt?: string | undefined;
  /** Variable that names the file where the program may leave its result. */
  readonly resultVariable: "LOOPLEDGER_RESULT" | "LOOPLEDGER_VALIDATION";
  readonly resultBytesMax: number;
  /** The claim's step API; null where the run has none. */
  readonly steps: { readonly api: StepApi; readonly tools: boolean } | null;
  readonly timeoutSeconds: number;
  readonly idleSeconds: number | null;
  readonly signal: AbortSignal;
  readonly live?: ((chunk: Uint8Array) => void) | undefined;
}
export interface ExecEnd {
  readonly ended: Ended;
  readonly log: CycleLog;
  /** What it left in its result file; null where there is none. */
  readonly result: JsonRead | null;
  readonly left: "suspended" | "stopped" | null;
}

/** How long a program has between SIGTERM and SIGKILL. */
const graceSeconds = 5;

export function runExec(asked: ExecRun): Promise<ExecEnd> {
  const folder = asked.deps.sessionFolder(asked.sessionId);
  return asked.kind === "cycle" ? afterEarlier(folder, () => runOnce(asked, folder)) : runOnce(asked, folder);
}

async function runOnce(asked: ExecRun, sessionFolder: string): Promise<ExecEnd> {
  const run = randomBytes(16).toString("hex");
  const runFolder = runFolderOf(sessionFolder, run);
  const gate = asked.steps === null ? null : stepGate(asked.steps.api, asked.steps);
  const mounted = gate === null ? null : asked.deps.steps.mount(gate.api, { tools: asked.steps?.tools ?? false });
  const { definition, deps } = asked;
  const redactor = new Redactor([...secretValues(definition.env ?? [], deps.environment), ...(mounted ? [mounted.token] : [])]);
  const shown = asked.kind === "cycle" ? openLiveFile(sessionFolder) : null;
  const live = (chunk: Uint8Array): void => {
    asked.live?.(chunk);
    shown?.write(chunk);
  };
  const output = new Output({ blobs: deps.blobs, sessionId: asked.sessionId, redactor, live });
  try {
    const files = await prepare(asked, runFolder).catch(noRoom);
    if (files.kind === "cannot_start") return { ended: files, log: await output.finish(), result: null, left: null };
    const steps = mounted === null ? {} : { LOOPLEDGER_STEP_URL: mounted.url, LOOPLEDGER_STEP_TOKEN: mounted.token };
    const environment = environmentFor(deps.environment, {
      names: definition.env ?? [], binFolder: deps.binFolder,
      engine: { ...asked.engine, ...files.variables, ...steps, LOOPLEDGER_SESSION: asked.sessionId, LOOPLEDGER_RUN: run },
    });
    const ended = files.missing ?? await launch({
      run, kind: asked.kind, epoch: asked.epoch, sessionFolder, argv: argvOf(definition), cwd: files.cwd, environment,
      stdin: files.stdin, timeoutSeconds: asked.timeoutSeconds, idleSeconds: asked.idleSeconds, graceSeconds,
    }, { signal: asked.signal, write: (chunk) => output.write(chunk) });
    const result = await readResultFile(files.result, { bytesMax: asked.resultBytesMax, redactor });
    return { ended, log: await output.finish(), result, left: gate?.left() ?? null };
  } finally {
    gate?.close();
    mounted?.unmount();
    await shown?.close();
    // What cannot be removed now costs room, never the run.
    await rm(runFolder, { recursive: true, force: true }).catch(() => undefined);
  }
}

function argvOf({ exec, shell }: ExecDefinition): readonly string[] {
  const words = typeof exec === "string" ? [exec] : exec;
  return shell ? ["/bin/sh", "-c", ...words] : words;
}

/** Why a program could not be started, in words that name it. */
export function whyNotStarted(definition: ExecDefinition, ended: Extract<Ended, { kind: "cannot_start" }>, folder: string): string {
  const [program = ""] = argvOf(definition);
  const path = program.includes("/") ? resolve(folder, definition.cwd ?? ".", program) : null;
  if (ended.message.startsWith("the folder ")) return ended.message;
  if (ended.errno === "EACCES") return `${program} may not be executed (chmod +x makes it so)`;
  if (ended.errno !== "ENOENT") return `${ended.errno} ${ended.message.replace(`${ended.errno}: `, "")}`;
  return path !== null && existsSync(path) ? `the interpreter that the first line of ${program} names is not there` : `no such program ${program}`;
}

/** The host has no room for the files of a run: nothing was started, and it is tried again. */
function noRoom(error: NodeJS.ErrnoException): Ended & { kind: "cannot_start" } {
  const code = passingFault(error);
  if (code === null) throw error;
  return cannotStart(code, `the files of the run cannot be written: ${error.message}`);
}

interface Prepared {
  readonly kind: "prepared";
  readonly cwd: string;
  readonly stdin: string;
  readonly result: string;
  readonly variables: Readonly<Record<string, string>>;
  /** The folder to run in is not there. */
  readonly missing: Ended | null;
}
async function prepare(asked: ExecRun, runFolder: string): Promise<Prepared> {
  await mkdir(runFolder, { recursive: true, mode: 0o700 });
  const [stdin, result, prompt] = ["stdin", asked.resultVariable === "LOOPLEDGER_RESULT" ? "result.json" : "validation.json", "prompt.txt"]
    .map((name) => join(runFolder, name)) as [string, string, string];
  await writeFile(stdin, asked.stdin, { mode: 0o600 });
  if (asked.prompt !== undefined) await writeFile(prompt, asked.prompt, { mode: 0o600 });
  const cwd = resolve(asked.deps.folder, asked.definition.cwd ?? ".");
  const there = await stat(cwd).then((found) => found.isDirectory(), () => false);
  return {
    kind: "prepared", cwd, stdin, result,
    variables: { [asked.resultVariable]: result, ...(asked.prompt === undefined ? {} : { LOOPLEDGER_PROMPT_FILE: prompt }) },
    missing: there ? null : { kind: "cannot_start", passing: false, errno: "ENOENT", message: `the folder ${asked.definition.cwd ?? "."} is missing` },
  };
}

/** A plain file only: a program may have put anything in its place. */
async function readResultFile(path: string, options: { bytesMax: number; redactor: Redactor }): Promise<JsonRead | null> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? null : { ok: false, why: "no plain file" };
  }
  try {
    const { size, ...found } = await file.stat();
    if (!(found.mode & constants.S_IFREG)) return { ok: false, why: "no plain file" };
    if (size > options.bytesMax) return { ok: false, why: `larger than ${options.bytesMax} bytes` };
    const read = readJson((await file.readFile("utf8")).replace(/^\uFEFF/, ""));
    return read.ok ? { ok: true, value: options.redactor.json(read.value) as Json } : read;
  } finally {
    await file.close();
  }
}
