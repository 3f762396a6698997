/** The ledger's own time where the wall clock is put back: it never goes back with it, and it never stands still. */
import type { SessionId } from "@loopledger/shared/core/brand";
import type { Clock } from "@loopledger/shared/ports";
import { openSqliteLedger } from "@loopledger/shared/sqlite";
import { createSystemClock, createSystemIds } from "@loopledger/shared/system";
import { afterEach, beforeEach, expect, it } from "vitest";
import { makeFolder } from "./folder.ts";

const s = "s" as SessionId;
const dayMs = 86_400_000;
const startMs = Date.UTC(2030, 0, 1);
let folder: ReturnType<typeof makeFolder>;
let passedMs = 0;
beforeEach(() => {
  folder = makeFolder();
  passedMs = 0;
});
afterEach(() => folder.remove());

/** A process whose wall clock is off by so much; what passes is the same for all. */
function process(offMs: () => number) {
  const clock: Clock = { ...createSystemClock(), now: () => startMs + passedMs + offMs(), monotonic: () => 1_000.5 + passedMs };
  const ledger = openSqliteLedger({ folder: folder.path, clock, ids: createSystemIds() });
  return {
    append: async (): Promise<number> => {
      await ledger.append(s, ["{}"]);
      return ((await ledger.readSession(s)).at(-1)?.time ?? 0) - startMs;
    },
    close: () => ledger.close(),
  };
}

it("goes on by what has passed, in a process that has written before and in one that comes later", async () => {
  let off = 0;
  const first = process(() => off);
  expect(await first.append()).toBe(0);
  off = -dayMs;
  passedMs += 700;
  expect(await first.append()).toBe(700);
  const later = process(() => -dayMs);
  expect(await later.append()).toBe(700);
  passedMs += 1_000;
  expect(await later.append()).toBe(1_700);
  expect(await first.append()).toBe(1_700);
  off = dayMs;
  expect(await first.append()).toBe(dayMs + 1_700);
  expect(await later.append()).toBe(dayMs + 1_700);
  passedMs += 50;
  expect(await later.append()).toBe(dayMs + 1_750);
  await first.close();
  await later.close();
});

it("does not run ahead, in any process, where one stood still between its looks at the two clocks", async () => {
  let pauseMs = 0;
  const clock = createSystemClock();
  /** What is seen, and then the pause. */
  const look = (seen: number): number => {
    passedMs += pauseMs;
    pauseMs = 0;
    return seen;
  };
  const paused: Clock = { ...clock, now: () => look(startMs + passedMs), monotonic: () => look(1_000.5 + passedMs) };
  const ledger = openSqliteLedger({ folder: folder.path, clock: paused, ids: createSystemIds() });
  const other = process(() => 0);
  for (let pauses = 0; pauses < 3; pauses++) {
    pauseMs = 400;
    await ledger.append(s, ["{}"]);
    await ledger.append(s, ["{}"]);
    expect((await ledger.readSession(s)).at(-1)?.time).toBe(startMs + passedMs);
    expect(await other.append()).toBe(passedMs);
  }
  await ledger.close();
  await other.close();
});
