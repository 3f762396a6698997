/**
 * How much more several worker processes do than one, on Kafka and Redis: more sessions than they have room for, with steps that wait, so
 * that what is measured is the sharing of the work and not the machine's cores. The rate is that of the middle of the run, while every
 * process has as many sessions as it has room for.
 */
import { mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { kafkaBrokers, makeTopics, redisUrl, removeTopics, uniquePrefix } from "../support/parts/parts.ts";
import { until } from "../support/until.ts";
import { type Figure, median } from "./figures.ts";
import { type Place, Serving, stepsOf } from "./serving.ts";

const stepMs = 50;
const iterations = 5;
/** Sessions that a process carries at a time. */
const room = 8;
const partitions = 12;
const submittedAtOnce = 40;
/** Of all steps, those from the first share to the second are timed. */
const middle = { from: 0.15, to: 0.65 } as const;
const limitMs = 600_000;

export interface ScalingOptions {
  readonly rounds: number;
  readonly sessions: number;
  /** Numbers of worker processes; the first is what the others are compared with. */
  readonly workers: readonly number[];
}

export async function measureScaling(folder: string, { rounds, sessions, workers }: ScalingOptions): Promise<Figure[]> {
  const rates = new Map<number, number[]>(workers.map((count) => [count, []]));
  for (let round = 0; round < rounds; round++) {
    for (const count of workers) rates.get(count)?.push(await rateOf(folder, { sessions, count }));
  }
  const what = `${sessions} sessions of steps of ${stepMs} ms on Kafka, room for ${room} a process, median of ${rounds}`;
  const first = median(rates.get(workers[0] ?? 1) ?? []);
  return [...rates].flatMap(([count, list]): Figure[] => {
    const name = `${count} worker process${count === 1 ? "" : "es"}`;
    const rate: Figure = { part: "scaling", name, value: median(list), unit: "iterations/s", what };
    return count === workers[0] ? [rate] : [rate, { part: "scaling", name: `${name} against ${workers[0]}`, value: median(list) / first, unit: "x", what }];
  });
}

/** Iterations a second of so many worker processes on topics of their own. */
async function rateOf(folder: string, { sessions, count }: { readonly sessions: number; readonly count: number }): Promise<number> {
  const prefix = uniquePrefix("scaling");
  const place = await placeIn(folder, prefix);
  await makeTopics(prefix, { partitions });
  const running: Serving[] = [];
  try {
    const gateway = Serving.begin(place, "gateway,projector");
    running.push(gateway, ...Array.from({ length: count }, () => Serving.begin(place, "scheduler,worker,checker")));
    await Promise.all(running.map((one) => one.ready()));
    for (let from = 0; from < sessions; from += submittedAtOnce) {
      const ids = Array.from({ length: Math.min(submittedAtOnce, sessions - from) }, (_, at) => `${prefix}-${from + at}`);
      await Promise.all(ids.map((id) => gateway.submit(id)));
    }
    const all = sessions * iterations * 2;
    await until(() => endedAt(place).length >= all, { what: `${all} steps of ${count} worker processes`, timeoutMs: limitMs });
    return middleRate(endedAt(place));
  } finally {
    await Promise.all(running.map((one) => one.end("SIGTERM")));
    await removeTopics(prefix);
  }
}

async function placeIn(folder: string, prefix: string): Promise<Place> {
  const place = mkdtempSync(join(folder, "scaling-"));
  mkdirSync(join(place, "data"), { recursive: true });
  const variables = {
    LOOPLEDGER_KAFKA_BROKERS: await kafkaBrokers(), LOOPLEDGER_REDIS_URL: await redisUrl(), LOOPLEDGER_TOPIC_PREFIX: prefix,
    LOOPLEDGER_SESSIONS_MAX: String(room),
  };
  return { folder: place, stepMs, iterations, variables };
}

/** Of steps of different sessions and iterations, when each ended for the first time. */
function endedAt(place: Place): number[] {
  const first = new Map<string, number>();
  for (const { what, sessionId, iteration, kind, atMs } of stepsOf(place)) {
    const step = `${sessionId} ${iteration} ${kind}`;
    if (what === "ended" && !first.has(step)) first.set(step, atMs);
  }
  return [...first.values()];
}

/** Two steps are an iteration. */
function middleRate(ended: readonly number[]): number {
  const sorted = ended.toSorted((a, b) => a - b);
  const [from, to] = [Math.floor(sorted.length * middle.from), Math.floor(sorted.length * middle.to)];
  const seconds = ((sorted[to] ?? Number.NaN) - (sorted[from] ?? Number.NaN)) / 1000;
  return (to - from) / 2 / seconds;
}
