/** What a fold has read further than it was handed over is written too: its entries are not told a second time. */
import { expect, test } from "vitest";
import type { Offset, SessionId } from "@loopledger/shared/core/brand";
import { goal } from "@loopledger/shared/core/events/goal";
import { createMemoryLedger, createSeededIds, createVirtualClock } from "@loopledger/shared/memory";
import { Folds, submitGoal } from "@loopledger/shared/runtime";
import { memoryPlace, person } from "../support/walks.ts";
import { Changed } from "../../services/projector/src/changed.ts";

test("a session that was opened before its entries were handed over is in the batch that covers them, and not before", async () => {
  const clock = createVirtualClock();
  const ledger = createMemoryLedger({ clock });
  const ids = createSeededIds(1);
  const writer = await memoryPlace(clock).join();
  const submitted = goal.parse({ goal: "g", maker: "maker", check: "check" });
  await submitGoal(writer, submitted, { actor: person, id: "s" as SessionId });
  const texts = (await writer.ledger.readSession("s" as SessionId)).map(({ value }) => value ?? "");
  const late = ledger.handle({ faults: { lagMs: [100, 100] } });
  const folds = new Folds({ ledger: late, ids, report: (error) => expect(error).toBeNull() });
  const partition = late.partitionOf("s");
  const begun = folds.start(new Map([[partition, 1 as Offset]]));
  await ledger.handle().append("s" as SessionId, texts);
  await begun;
  await folds.open("s" as SessionId);
  const changed = new Changed(folds, { from: new Map([[partition, 1 as Offset]]), onFolded: () => undefined });
  expect(changed.batch(partition, 1 as Offset)).toBeNull();
  await clock.advance(200);
  const batch = changed.batch(partition, 1 as Offset);
  expect(batch?.to).toBe(1 + texts.length);
  expect(batch?.sessions.map(({ state, next }) => [state.sessionId, next])).toEqual([["s", 1 + texts.length]]);
});

test("while one session has been read further than the others were handed over, there is no batch: none lies ahead of its own end", async () => {
  const clock = createVirtualClock();
  const ledger = createMemoryLedger({ clock });
  const writer = await memoryPlace(clock).join();
  const late = ledger.handle({ faults: { lagMs: [100, 100] } });
  const [first, second] = Array.from({ length: 50 }, (_, index) => `s-${index}` as SessionId).filter((id) => late.partitionOf(id) === late.partitionOf("s-0")) as [SessionId, SessionId];
  const partition = late.partitionOf(first);
  const folds = new Folds({ ledger: late, ids: createSeededIds(1), report: (error) => expect(error).toBeNull() });
  const texts = new Map<SessionId, string[]>();
  for (const id of [first, second]) {
    await submitGoal(writer, goal.parse({ goal: "g", maker: "maker", check: "check" }), { actor: person, id });
    texts.set(id, (await writer.ledger.readSession(id)).map(({ value }) => value ?? ""));
  }
  const begun = folds.start(new Map([[partition, 1 as Offset]]));
  await ledger.handle().append(first, texts.get(first) ?? []);
  await begun;
  const changed = new Changed(folds, { from: new Map([[partition, 1 as Offset]]), onFolded: () => undefined });
  await clock.advance(60);
  await ledger.handle().append(second, texts.get(second) ?? []);
  await folds.open(second);
  const [between, end] = [1 + (texts.get(first)?.length ?? 0), 1 + (texts.get(first)?.length ?? 0) + (texts.get(second)?.length ?? 0)];
  await clock.advance(60);
  expect(folds.folded().get(partition)).toBe(between);
  expect(folds.ahead().map(({ state, next }) => [state.sessionId, next])).toEqual([[second, end]]);
  expect(changed.batch(partition, 1 as Offset)).toBeNull();
  await clock.advance(200);
  expect(changed.batch(partition, 1 as Offset)).toMatchObject({ to: end });
});
