import { expect, test } from "vitest";
import type { LogTime, Offset, SessionId } from "@loopledger/shared/core/brand";
import type { Ledger, LogEntry } from "@loopledger/shared/ports";
import { Folds, appendAct, submitGoal } from "@loopledger/shared/runtime";
import { goalOf } from "@loopledger/shared/testing";
import { memoryPlace, person } from "../support/walks.ts";
import { opened } from "../projector/views.ts";

const id = "at-home" as SessionId;

/** The ledger, and a way to hand on an entry that somebody's producer has put where its key does not belong. */
function withStrays(ledger: Ledger): { readonly ledger: Ledger; hand(entry: LogEntry): void } {
  const listeners: ((entries: readonly LogEntry[]) => void)[] = [];
  const { ledgerId, partitions } = ledger;
  return {
    hand: (entry) => listeners.forEach((listener) => void listener([entry])),
    ledger: {
      ledgerId, partitions, partitionOf: (key) => ledger.partitionOf(key), append: (...given) => ledger.append(...given), read: (...given) => ledger.read(...given),
      readSession: (...given) => ledger.readSession(...given), end: () => ledger.end(), close: () => ledger.close(),
      subscribe: (from, listener) => {
        listeners.push(listener);
        return ledger.subscribe(from, listener);
      },
    },
  };
}

test.each([["of a session that is kept", true], ["before anything else is heard of the session", false]])("an entry in a partition where its key does not belong changes nothing, however far that one is: %s", async (_, isKept) => {
  const engine = await opened(memoryPlace()).join();
  const strays = withStrays(engine.ledger);
  const folds = new Folds({ ledger: strays.ledger, ids: engine.ids, report: () => undefined });
  await folds.start(await engine.ledger.end());
  await submitGoal(engine, goalOf(), { actor: person, id });
  if (isKept) await folds.open(id);
  const partition = (engine.ledger.partitionOf(id) + 1) % engine.ledger.partitions;
  for (const value of ["{}", null]) strays.hand({ partition, offset: 9_000 as Offset, time: 1 as LogTime, key: id, value });
  await appendAct(engine, id, { type: "guidance", data: { text: "heard" }, actor: person });
  await folds.caughtUp();
  expect(folds.peek(id)).toEqual(engine.folds.peek(id));
  expect(folds.peek(id)?.guidance).toEqual(["heard"]);
});
