/**
 * Runs one program for a worker and never lets it outlive that worker. File descriptor 3 is the pipe to it: the first line that
 * comes in says what to run, later ones are commands, and its end means that the worker is gone.
 *
 * In: `{ run, kind, epoch, folder, argv, cwd, env, stdin, output, timeoutMs, graceMs }`, then `stop` or `idle`.
 * Out: `{ started: pid }`, then one of `{ cannotStart, message }`, `{ superseded: true }`, `{ code, signal, cause }`.
 */
import { spawn } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { Socket } from "node:net";
import { endAll, membersOf, statOf } from "./processes.mjs";
import { endRecorded, newRecord, readRecords, removeRecord, removeRunFolder, writeRecord } from "./records.mjs";

/** How long a program has after SIGTERM when its worker is gone, or when it has ended itself and left others behind. */
const orphanGraceMs = 300;
const longestTimerMs = 2_147_483_647;

const pipe = new Socket({ fd: 3 });
let spec = null;
let record = null;
let cause = "exit";
let killAt = Number.POSITIVE_INFINITY;
let ending = null;
let workerGone = false;
let running = false;
let finished = false;

function tell(message) {
  if (!workerGone) pipe.write(`${JSON.stringify(message)}\n`);
}

const look = () => membersOf({ marker: spec.run, group: record.group?.pid ?? null, since: record.supervisor.start });

/** Begins to end all of the run, or hastens it where that has begun. */
function end(why, graceMs) {
  if (ending === null) cause = why;
  killAt = Math.min(killAt, performance.now() + graceMs);
  if (running) ending ??= endAll(look, { killAt: () => killAt });
}

/** Says how it ended, once nothing of it is left. */
async function finish(message) {
  if (finished) return;
  finished = true;
  if (record !== null) {
    if (ending === null) killAt = performance.now() + orphanGraceMs;
    await endAll(look, { killAt: () => killAt });
    try {
      if (workerGone) removeRunFolder(spec.folder, spec.run);
      removeRecord(spec.folder, spec.run);
    } catch {
      // How it ended is told all the same; a record of a run that is gone is removed by the next one.
    }
  }
  tell(message);
  if (workerGone) process.exit(0);
  pipe.end(() => process.exit(0));
}

async function start() {
  record = newRecord(spec);
  writeRecord(spec.folder, record);
  const rivals = (other) => spec.kind === "cycle" && other.kind === "cycle" && other.run !== spec.run;
  const later = readRecords(spec.folder).some((other) => rivals(other) && other.epoch > spec.epoch && other.place === record.place && isRunning(other));
  if (later) return finish({ superseded: true });
  if (!(await endRecorded(spec.folder, { which: (other) => rivals(other) && other.epoch <= spec.epoch, graceMs: 1000 }))) {
    return finish({ cannotStart: "EBUSY", message: "an earlier run of this session on this host could not be ended" });
  }
  // The worker may have gone, or have thought better of it, while this waited for others.
  if (workerGone || killAt !== Number.POSITIVE_INFINITY) return finish({ code: null, signal: null, cause });
  return run();
}

function isRunning(other) {
  return statOf(other.supervisor.pid)?.start === other.supervisor.start;
}

function run() {
  const [stdin, output] = [openSync(spec.stdin, constants.O_RDONLY), openOutput()];
  const [program, ...rest] = spec.argv;
  let child;
  try {
    child = spawn(program, rest, { cwd: spec.cwd, env: spec.env, detached: true, stdio: [stdin, output, output] });
  } catch (error) {
    return finish({ cannotStart: error.code ?? "EINVAL", message: error.message });
  }
  closeSync(stdin);
  if (output !== 1) closeSync(output);
  child.on("error", (error) => {
    if (child.pid === undefined) void finish({ cannotStart: error.code ?? "EINVAL", message: error.message });
  });
  if (child.pid === undefined) return;
  running = true;
  // Without a start time it is gone already, and so is its group unless it left others in it.
  record = { ...record, group: { pid: child.pid, start: statOf(child.pid)?.start ?? "" } };
  try {
    writeRecord(spec.folder, record);
  } catch {
    // A disk without room: the first record names this supervisor, and the run's marker finds its members.
  }
  tell({ started: child.pid });
  if (spec.timeoutMs <= longestTimerMs) setTimeout(() => end("timeout", spec.graceMs), spec.timeoutMs).unref();
  if (killAt !== Number.POSITIVE_INFINITY) end(cause, 0);
  child.on("exit", (code, signal) => void finish({ code, signal, cause }));
}

/** The write end of the worker's named pipe. Its own read end is held meanwhile, so that this cannot wait for a worker that is gone. */
function openOutput() {
  if (spec.output === null) return 1;
  const both = openSync(spec.output, constants.O_RDWR);
  const output = openSync(spec.output, constants.O_WRONLY);
  closeSync(both);
  return output;
}

let buffered = "";
pipe.setEncoding("utf8");
pipe.on("data", (text) => {
  buffered += text;
  for (let at = buffered.indexOf("\n"); at >= 0; at = buffered.indexOf("\n")) {
    const line = buffered.slice(0, at);
    buffered = buffered.slice(at + 1);
    if (spec === null) {
      spec = JSON.parse(line);
      start().catch((error) => finish({ cannotStart: error.code ?? "EINVAL", message: error.message }));
    } else if (line === "stop" || line === "idle") end(line, spec.graceMs);
  }
});
pipe.on("error", () => undefined);
pipe.on("close", () => {
  workerGone = true;
  if (spec === null) process.exit(0);
  end("worker_gone", orphanGraceMs);
});
for (const name of ["SIGTERM", "SIGINT", "SIGHUP"]) {
  process.on(name, () => (spec === null ? process.exit(0) : end("stop", 1000)));
}
process.title = "loopledger-supervisor";
