import { expect, it } from "vitest";
import type { LogTime } from "../core/brand.ts";
import { createMemoryProcess, createVirtualClock } from "../adapters/memory/index.ts";
import { LogClock } from "./log-clock.ts";

const hourMs = 3_600_000;

function worldWithClockWrongBy(ms: number) {
  const log = createVirtualClock();
  const process = createMemoryProcess(log);
  process.skew(ms);
  return { log, process, clock: new LogClock(process.clock) };
}

it.each([hourMs, -hourMs])("a wall clock that is wrong by %i ms does not matter once something of its own was read back", async (skewMs) => {
  const { log, process, clock } = worldWithClockWrongBy(skewMs);
  expect(clock.now()).toBe(log.now() + skewMs);
  const appendedAt = log.now() as LogTime;
  await log.advance(30);
  clock.heard(appendedAt, true);
  expect(clock.now()).toBe(log.now() - 30);
  process.skew(2 * skewMs);
  await log.advance(1_000);
  expect(clock.now()).toBe(log.now() - 30);
});

it("goes on from a record that was read, whatever this process's own clock says", async () => {
  const { log, clock } = worldWithClockWrongBy(-hourMs);
  expect(clock.nowAfter(log.now() as LogTime)).toBe(log.now());
  const readAt = log.now() as LogTime;
  await log.advance(500);
  expect(clock.nowAfter(readAt)).toBe(log.now());
  expect(clock.nowAfter(null)).toBe(log.now());
});

it("is never behind an entry that it has seen, and never led ahead by an old one", async () => {
  const { log, clock } = worldWithClockWrongBy(-hourMs);
  clock.heard((log.now() - 2 * hourMs) as LogTime, false);
  expect(clock.now()).toBe(log.now() - hourMs);
  clock.heard(log.now() as LogTime, false);
  await log.advance(10);
  expect(clock.now()).toBe(log.now());
});
