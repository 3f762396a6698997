import { expect, test } from "vitest";
import type { SessionId } from "@loopledger/shared/core/brand";
import { goal } from "@loopledger/shared/core/events/goal";
import { createMemoryBlobs, createMemoryHosts, createMemoryLedger, createMemoryOwnership, createMemoryProcess, createSeededIds, createVirtualClock } from "@loopledger/shared/memory";
import { figuresText, makeEngine, submitGoal } from "@loopledger/shared/runtime";
import { Figures } from "@loopledger/composition/process/figures";

test("a process counts what it folds by verdict and what is void by reason, and nothing that was there before it", async () => {
  const clock = createVirtualClock();
  const ids = createSeededIds(1);
  const process = createMemoryProcess(clock);
  const ledger = createMemoryLedger({ clock, ids }).handle({ process });
  const handlers = { maker: () => null, check: () => null, tool: () => null, toolNames: () => [] };
  const engine = makeEngine(
    { ledger, ownership: createMemoryOwnership({ clock }).handle({ process }), blobs: createMemoryBlobs(), clock, ids, host: createMemoryHosts().on("host", process), handlers },
    { leaseMs: 1_000, silenceMs: 1_000 },
  );
  let goesOn = true;
  const going = (async () => {
    while (goesOn) await clock.advance(1);
  })();
  await engine.folds.start(await ledger.end());
  const asked = goal.parse({ goal: "g", maker: "m", check: "c", policy: { failureFirst: false } });
  const submit = (id: string) => submitGoal(engine, asked, { actor: { kind: "human", id: "ann" }, id: id as SessionId });
  await submit("before");
  const figures = new Figures(engine, { appends: null, carried: () => 2 });
  await submit("after");
  await ledger.append("after" as SessionId, ["rubbish"]);
  await engine.folds.caughtUp();
  const lines = figuresText(await figures.families()).split("\n");
  expect(lines).toEqual(expect.arrayContaining([
    "loopledger_sessions_carried 2", 'loopledger_records_total{verdict="accepted"} 2', 'loopledger_records_total{verdict="void"} 1',
    'loopledger_void_total{reason="malformed"} 1', 'loopledger_void_total{reason="gap"} 0',
  ]));
  figures.close();
  await engine.folds.close();
  goesOn = false;
  await going;
});
