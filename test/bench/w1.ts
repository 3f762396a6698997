/**
 * W1: 20 iterations of one maker step and one check step each, every step on disk before the next begins.
 * Prints the floor of the same folder (append 512 bytes and fdatasync), then sequential and concurrent figures.
 *   node test/bench/w1.ts [sessions...]
 */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { SessionId } from "../../packages/shared/src/core/brand.ts";
import { goal } from "../../packages/shared/src/core/events/goal.ts";
import { fn, makeHandlers, startStepServer } from "../../packages/handlers/src/index.ts";
import { openFolderBlobs } from "../../packages/shared/src/adapters/blobs/index.ts";
import { openSqliteLedger, openSqliteOwnership } from "../../packages/shared/src/adapters/sqlite/index.ts";
import { createSystemClock, createSystemHost, createSystemIds } from "../../packages/shared/src/adapters/system/index.ts";
import { Carrier, type Engine, Liveness, Offers, makeEngine, submitGoal } from "../../packages/shared/src/runtime/index.ts";
import { reviewRunner } from "../../services/checker/src/checker.ts";
import { makeScheduler } from "../../services/scheduler/src/scheduler.ts";
import { buildRunner } from "../../services/worker/src/worker.ts";

const iterations = 20;
const { positionals } = parseArgs({ allowPositionals: true });
const counts = positionals.length > 0 ? positionals.map(Number) : [100, 1000];
const folder = mkdtempSync(join(process.env["BENCH_DIR"] ?? tmpdir(), "loopledger-w1-"));
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const quantile = (list: number[], q: number): string => (list.sort((a, b) => a - b)[Math.floor(list.length * q)] ?? 0).toFixed(3);

function floor(): void {
  const file = openSync(join(folder, "floor"), "w");
  const bytes = Buffer.alloc(512, 65);
  const took: number[] = [];
  for (let i = 0; i < 500; i++) {
    const from = performance.now();
    writeSync(file, bytes);
    fdatasyncSync(file);
    took.push(performance.now() - from);
  }
  closeSync(file);
  print(`floor: append 512 bytes + fdatasync: p50 ${quantile(took, 0.5)} ms, p99 ${quantile(took, 0.99)} ms`);
}

const starts = new Map<string, number[]>();
const clock = createSystemClock();
const ids = createSystemIds();
const blobs = openFolderBlobs({ folder: join(folder, "blobs"), clock, ids });
const handlers = makeHandlers({
  makers: { bench: fn(async (task: { sessionId: string; iteration: number }) => {
    const list = starts.get(task.sessionId) ?? [];
    list.push(performance.now());
    starts.set(task.sessionId, list);
    return { summary: `unit ${task.iteration}`, revision: `r${task.iteration}` };
  }) },
  checks: { bench: fn(async (task: { iteration: number }) => ({ verdict: task.iteration < iterations ? "FAIL" : "PASS", evidence: {}, next_steps: task.iteration < iterations ? [`do-${task.iteration + 1}`] : [] })) },
} as never, { folder, environment: {}, sessionFolder: (id) => join(folder, id), blobs, steps: await startStepServer() });

async function makeWorld(): Promise<{ engine: Engine; stop(): Promise<void> }> {
  const ledger = await openSqliteLedger({ folder, clock, ids });
  const ownership = await openSqliteOwnership({ folder, clock });
  const engine = makeEngine(
    { ledger, ownership, blobs: blobs, clock, ids, host: createSystemHost(), handlers },
    { leaseMs: 2000, silenceMs: 60_000 },
  );
  const liveness = new Liveness(engine, () => 600_000);
  await liveness.start();
  await engine.folds.start(await ledger.end());
  const crew = { runners: [buildRunner(engine), reviewRunner(engine)], scheduler: makeScheduler(engine), liveness };
  const offers = new Offers(engine, crew, { carrier: new Carrier(engine, crew), settings: { sessionsMax: 2000 } });
  offers.start();
  return { engine, async stop() { await offers.stop(); await liveness.stop(); await engine.folds.close(); await ownership.close(); await ledger.close(); } };
}

async function session(engine: Engine, id: string): Promise<void> {
  const over = new Promise<void>((resolve) => {
    const stop = engine.folds.follow(id as SessionId, (change) => {
      if (change.state.end && !change.state.statusOwed) { stop(); resolve(); }
    });
  });
  const wanted = goal.parse({ goal: "bench", maker: "bench", check: "bench", budget: { iterations: 1000 }, policy: { failureFirst: false, breaker: { same: 1000 } } });
  await submitGoal(engine, wanted, { actor: { kind: "human", id: "bench" }, id: id as SessionId });
  await over;
}

floor();
const world = await makeWorld();
for (let i = 0; i < 50; i++) await session(world.engine, `warm-${i}`);
{
  const cpu = process.cpuUsage();
  for (let i = 0; i < 50; i++) await session(world.engine, `seq-${i}`);
  const used = process.cpuUsage(cpu);
  const gaps = [...starts].filter(([id]) => id.startsWith("seq-")).flatMap(([, list]) => list.slice(1).map((at, i) => at - (list[i] ?? at)));
  print(`sequential: one iteration p50 ${quantile(gaps, 0.5)} ms, p99 ${quantile(gaps, 0.99)} ms; CPU ${(((used.user + used.system) / 1e6) * 2000 / 1000).toFixed(2)} s for 2,000`);
}
for (const count of counts) {
  const cpu = process.cpuUsage();
  const from = performance.now();
  await Promise.all(Array.from({ length: count }, (_, i) => session(world.engine, `c${count}-${i}`)));
  const tookMs = performance.now() - from;
  const used = process.cpuUsage(cpu);
  const done = count * iterations;
  print(`${count} sessions: ${Math.round((done / tookMs) * 1000)} iterations/s; CPU ${(((used.user + used.system) / 1e6) * 2000 / done).toFixed(2)} s for 2,000; RSS ${Math.round(process.memoryUsage().rss / 1e6)} MB`);
}
await world.stop();
rmSync(folder, { recursive: true, force: true });
