// Measures the loop on this machine, embedded but where a part says otherwise, and prints one table in which every figure says what it is.
//
//   npm run bench                                 everything that needs no Kafka (pnpm bench)
//   npm run bench -- --only scaling               1 and 4 worker processes on Kafka and Redis, those of the variables or of the launcher
//   npm run bench -- --only w1,status             these parts: w1, long, idle, restart, takeover, status, scaling
//   npm run bench -- --json                       the same as one JSON document
//   npm run bench -- --top                        also the functions that took most, on standard error
//   npm run bench -- --sessions 100,1000 --rounds 3 --iterations 10000 --idle 10000 --folder DIR
//
// The floor, 512 bytes appended and flushed in the same folder, is part of every run: figures of different machines, or of
// different hours of one machine, are compared by it. --folder names a folder on the disk that is meant (default: this checkout's .cache).
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Figure, tableOf } from "../test/bench/figures.ts";
import { measureFloor } from "../test/bench/floor.ts";
import { measureIdleSessions } from "../test/bench/idle-sessions.ts";
import { measureLongSession } from "../test/bench/long-session.ts";
import { measureRestart, measureTakeover } from "../test/bench/recovery.ts";
import { measureScaling } from "../test/bench/scaling.ts";
import { measureStatus } from "../test/bench/status-command.ts";
import { measureW1 } from "../test/bench/w1.ts";

const alone = ["w1", "long", "idle", "restart", "takeover", "status"] as const;
const parts = [...alone, "scaling"] as const;
type Part = (typeof parts)[number];

// pnpm hands the two dashes on that stand between its own options and ours.
const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument, at) => at > 0 || argument !== "--"),
  options: {
    only: { type: "string", default: alone.join() }, json: { type: "boolean", default: false }, top: { type: "boolean", default: false },
    sessions: { type: "string", default: "100,1000" }, rounds: { type: "string", default: "3" }, iterations: { type: "string", default: "10000" },
    idle: { type: "string", default: "10000" }, folder: { type: "string", default: resolve(import.meta.dirname, "..", ".cache") },
  },
});

function whole(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) throw new RangeError(`--${name} takes whole numbers from 1 on, not ${text}.`);
  return number;
}
function wanted(): Part[] {
  const names = values.only.split(",");
  const unknown = names.filter((name) => !(parts as readonly string[]).includes(name));
  if (unknown.length > 0) throw new RangeError(`--only: there is no part ${unknown.join(", ")}. The parts: ${parts.join(", ")}.`);
  return parts.filter((part) => names.includes(part));
}
const tell = (text: string): void => void process.stderr.write(`${text}\n`);

async function measure(folder: string): Promise<Figure[]> {
  const rounds = whole("rounds", values.rounds);
  const floor = measureFloor(folder);
  const top = values.top ? (name: string, us: number): void => tell(`${us.toFixed(2).padStart(8)} us  ${name}`) : undefined;
  const fresh = (): string => mkdtempSync(join(folder, "part-"));
  const run: Readonly<Record<Part, () => Promise<Figure[]>>> = {
    w1: () => measureW1({ folder: fresh(), floor, rounds, crowds: values.sessions.split(",").map((text) => whole("sessions", text)), ...(top && { top }) }),
    long: () => measureLongSession({ folder: fresh(), iterations: whole("iterations", values.iterations) }),
    idle: () => measureIdleSessions({ folder: fresh(), idle: whole("idle", values.idle), rounds }),
    restart: () => measureRestart(fresh(), rounds),
    takeover: async () => [
      ...(await measureTakeover(fresh(), { rounds, signal: "SIGKILL" })), ...(await measureTakeover(fresh(), { rounds, signal: "SIGSTOP" })),
    ],
    status: () => measureStatus(fresh(), Math.max(5, rounds)),
    scaling: () => measureScaling(fresh(), { rounds, sessions: 400, workers: [1, 4] }),
  };
  const figures = [...floor.figures];
  for (const part of wanted()) {
    tell(`bench: ${part}`);
    figures.push(...(await run[part]()));
  }
  return figures;
}

mkdirSync(values.folder, { recursive: true });
const folder = mkdtempSync(join(values.folder, "bench-"));
const machine = { node: process.version, cores: cpus().length, cpu: cpus()[0]?.model ?? "", loadBefore: loadavg()[0] ?? 0 };
try {
  const figures = await measure(folder);
  const about = { ...machine, loadAfter: loadavg()[0] ?? 0, at: new Date().toISOString() };
  if (values.json) process.stdout.write(`${JSON.stringify({ ...about, figures }, null, 2)}\n`);
  else process.stdout.write(`${tableOf(figures)}\n\nNode ${about.node}, ${about.cores} cores (${about.cpu}), load ${about.loadBefore.toFixed(1)} before and ${about.loadAfter.toFixed(1)} after.\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
