import { expect, test } from "vitest";
import { createMemoryLedger, createSeededIds, createVirtualClock } from "../adapters/memory/index.ts";
import type { Offset, SessionId } from "../core/brand.ts";
import type { Ledger } from "../ports/index.ts";
import { recordOf, sha256, submissionOf } from "../testing/index.ts";
import { Folds } from "./folds.ts";
import { Supervision } from "./supervision.ts";

const clock = createVirtualClock();
const submit = (sessionId: SessionId): string => JSON.stringify(recordOf("goal_submitted", submissionOf(), { sessionId }));
const ids = { ...createSeededIds(1), sha256 };

interface World { readonly ledger: Ledger; readonly folds: Folds; readonly partition: number; readonly later: (() => void)[]; readonly changed: string[] }
/** Two sessions of one partition; the reading of the first one's history can be held or broken. */
async function world(readSession: (read: () => ReturnType<Ledger["readSession"]>, sessionId: SessionId) => ReturnType<Ledger["readSession"]>): Promise<World> {
  const shared = createMemoryLedger({ clock, ids: createSeededIds(1), partitions: 1 });
  const ledger = shared.handle();
  const later: (() => void)[] = [];
  const changed: string[] = [];
  const after = (_delayMs: number, call: () => void): (() => void) => {
    later.push(call);
    return () => undefined;
  };
  const folds = new Folds({
    ledger: { ...ledger, readSession: (sessionId, from) => readSession(() => ledger.readSession(sessionId, from), sessionId) }, ids,
    supervision: new Supervision({ clock: { after }, report: () => undefined }), report: () => undefined,
  });
  folds.listen((change) => changed.push(change.sessionId));
  await folds.start(await ledger.end());
  return { ledger, folds, partition: 0, later, changed };
}
const [slow, quick] = ["slow", "quick"] as [SessionId, SessionId];

test("a session whose history is still being read holds its partition's position back", async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { ledger, folds, partition, changed } = await world((read, id) => (id === slow ? held.then(read) : read()));
  const before = (await ledger.end()).get(partition) as Offset;
  let told = 0;
  folds.onFolded(() => told++);
  await ledger.append(slow, [submit(slow)]);
  await ledger.append(quick, [submit(quick)]);
  await clock.settle();
  expect(changed).toEqual([quick]);
  expect(folds.folded().get(partition)).toBe(before);
  expect(folds.handed().get(partition)).toBe(before + 2);
  const toldBefore = told;
  release();
  await clock.settle();
  expect(changed).toEqual([quick, slow]);
  expect(folds.folded().get(partition)).toBe(before + 2);
  expect(told).toBeGreaterThan(toldBefore);
});

test("a history that could not be read is read again, and nothing before it counts as folded until then", async () => {
  let isBroken = true;
  const { ledger, folds, partition, later, changed } = await world((read, id) => (id === slow && isBroken ? Promise.reject(new Error("no answer")) : read()));
  const before = (await ledger.end()).get(partition) as Offset;
  await ledger.append(slow, [submit(slow)]);
  await ledger.append(quick, [submit(quick)]);
  await clock.settle();
  expect(folds.folded().get(partition)).toBe(before);
  for (const call of later.splice(0)) call();
  await clock.settle();
  expect([changed, folds.folded().get(partition)]).toEqual([[quick], before]);
  isBroken = false;
  for (const call of later.splice(0)) call();
  await clock.settle();
  expect([changed, folds.folded().get(partition)]).toEqual([[quick, slow], before + 2]);
});

test("F47 positions pass offsets that are used up by what is no entry, and are never behind an entry that was handed over", async () => {
  const ledger = createMemoryLedger({ clock, ids: createSeededIds(1), partitions: 1 }).handle();
  const passed = new Map<number, Offset>();
  const subscribe: Ledger["subscribe"] = async (...args) => {
    const subscription = await ledger.subscribe(...args);
    return { caughtUp: () => subscription.caughtUp(), close: () => subscription.close(), passed };
  };
  const folds = new Folds({ ledger: { ...ledger, subscribe }, ids, report: () => undefined });
  await folds.start(await ledger.end());
  await ledger.append(quick, [submit(quick)]);
  await folds.caughtUp();
  const next = (await ledger.end()).get(0) as Offset;
  expect([folds.handed().get(0), folds.folded().get(0)]).toEqual([next, next]);
  passed.set(0, (next + 2) as Offset);
  expect([folds.handed().get(0), folds.folded().get(0)]).toEqual([next + 2, next + 2]);
});
