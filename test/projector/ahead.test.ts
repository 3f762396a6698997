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
