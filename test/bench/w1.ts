/**
 * W1: iterations of one maker step and one check step each, every step on the disk before the next begins. First one session
 * after the other, then many at once, each beside the floor that was measured in the same run.
 */
import { type Figure, quantile } from "./figures.ts";
import type { Floor } from "./floor.ts";
import { type Loop, openLoop } from "./embedded-loop.ts";
import { profiled, shareFigures } from "./profile.ts";

const iterations = 20;
const warmSessions = 50;
const sequentialSessions = 50;
/** Iterations by which CPU time is told. */
const per = 2000;
/** An iteration's two appends. */
const appendsEach = 2;

export interface W1Options {
  readonly folder: string;
  readonly floor: Floor;
  /** How many sessions at once, one figure each. */
  readonly crowds: readonly number[];
  readonly rounds: number;
  /** Tells the functions that took most. */
  readonly top?: (name: string, microseconds: number) => void;
}

/** Wall and CPU time of a piece of work, in ms. */
async function timed(work: () => Promise<void>): Promise<{ readonly wallMs: number; readonly cpuMs: number }> {
  const cpu = process.cpuUsage();
  const from = performance.now();
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return { wallMs: performance.now() - from, cpuMs: (user + system) / 1000 };
}

let sessions = 0;
const fresh = (): string => `w1-${process.pid}-${++sessions}`;

async function crowd(loop: Loop, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => loop.run(fresh(), iterations)));
}

async function sequential(loop: Loop, floor: Floor): Promise<Figure[]> {
  const ids = Array.from({ length: sequentialSessions }, fresh);
  const { cpuMs } = await timed(async () => {
    for (const id of ids) await loop.run(id, iterations);
  });
  const gaps = ids.flatMap((id) => {
    const begun = loop.begun.get(id) ?? [];
    return begun.slice(1).map((at, i) => at - (begun[i] ?? at));
  });
  const what = `maker start to next maker start, ${sequentialSessions} sessions one after the other`;
  const p50 = quantile(gaps, 0.5);
  return [
    { part: "w1 sequential", name: "iteration p50", value: p50, unit: "ms", what, toFloor: p50 / (appendsEach * floor.p50Ms) },
    { part: "w1 sequential", name: "iteration p99", value: quantile(gaps, 0.99), unit: "ms", what },
    { part: "w1 sequential", name: `CPU for ${per} iterations`, value: (cpuMs * per) / (sequentialSessions * iterations) / 1000, unit: "s", what: "user and system time of this process" },
  ];
}

async function together(loop: Loop, count: number, rounds: number): Promise<Figure[]> {
  const done = count * iterations;
  const runs = [];
  for (let round = 0; round < rounds; round++) runs.push(await timed(() => crowd(loop, count)));
  const part = `w1 ${count} at once`;
  const what = `${count} sessions of ${iterations} iterations, median of ${rounds} rounds`;
  return [
    { part, name: "throughput", value: (done / quantile(runs.map((run) => run.wallMs), 0.5)) * 1000, unit: "iterations/s", what },
    { part, name: `CPU for ${per} iterations`, value: (quantile(runs.map((run) => run.cpuMs), 0.5) * per) / done / 1000, unit: "s", what: "user and system time of this process" },
    { part, name: "RSS", value: process.memoryUsage().rss / 1e6, unit: "MB", what: "after these sessions" },
  ];
}

async function shares(loop: Loop, count: number, top: W1Options["top"]): Promise<Figure[]> {
  const run = await profiled(() => crowd(loop, count));
  for (const { name, ms } of run.functions.slice(0, 40)) top?.(name, (ms * 1000) / (count * iterations));
  return shareFigures(`w1 ${count} at once: time`, run, count * iterations);
}

export async function measureW1({ folder, floor, crowds, rounds, top }: W1Options): Promise<Figure[]> {
  const loop = await openLoop(folder);
  try {
    for (let i = 0; i < warmSessions; i++) await loop.run(fresh(), iterations);
    const figures = await sequential(loop, floor);
    for (const count of crowds) figures.push(...(await together(loop, count, rounds)));
    if (crowds[0] !== undefined) figures.push(...(await shares(loop, crowds[0], top)));
    return figures;
  } finally {
    await loop.stop();
  }
}
