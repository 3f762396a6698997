import { afterEach, describe, expect, it, vi } from "vitest";
import type { SessionId } from "../core/brand.ts";
import { LoopledgerError } from "../core/errors.ts";
import { goal } from "../core/events/goal.ts";
import { createMemoryBlobs, createMemoryLedger, createMemoryOwnership, createMemoryProcess, createMemoryHosts, createSeededIds, createVirtualClock } from "../adapters/memory/index.ts";
import { appendAll, schedulerActor } from "./appends.ts";
import { type Engine, makeEngine } from "./engine.ts";
import { submitGoal } from "./submission.ts";
import type { Written } from "./author.ts";

const noHandlers = { maker: () => null, check: () => null, tool: () => null, toolNames: () => [] };
const id = "s" as SessionId;
let closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing) await close();
  closing = [];
});

async function engineWithOwedDispatch(): Promise<{ engine: Engine; owed: () => Written; wait: (ms: number) => Promise<void> }> {
  const clock = createVirtualClock();
  const ids = createSeededIds(1);
  const process = createMemoryProcess(clock);
  const engine = makeEngine(
    {
      ledger: createMemoryLedger({ clock, ids }).handle({ process }), ownership: createMemoryOwnership({ clock }).handle({ process }), blobs: createMemoryBlobs(),
      clock, ids, host: createMemoryHosts().on("host", process), handlers: noHandlers,
    },
    { leaseMs: 1_000, silenceMs: 1_000 },
  );
  closing.push(() => engine.folds.close());
  await engine.folds.start(await engine.ledger.end());
  const { state } = await submitGoal(engine, goal.parse({ goal: "g", maker: "m", check: "c", policy: { failureFirst: false } }), { actor: { kind: "human", id: "ann" }, id });
  const { submission, open } = state;
  if (!submission || !open) throw new Error("nothing is dispatched");
  const { cycle, leaf, iteration, task } = open;
  return {
    engine, wait: (ms) => clock.advance(ms),
    owed: () => engine.author.derive(
      id, { type: "dispatched", eventId: open.eventId, cause: submission.eventId, data: { cycle, leaf, iteration, task } }, schedulerActor(engine),
    ),
  };
}

describe("an append that is not acknowledged", () => {
  const full = () => new LoopledgerError("ledger_full", "The ledger is on a full disk.");
  it("is sent again for as long as it takes, the same bytes each time", async () => {
    const { engine, owed, wait } = await engineWithOwedDispatch();
    const sent: (readonly string[])[] = [];
    const { append } = engine.ledger;
    vi.spyOn(engine.ledger, "append").mockImplementation((session, texts) => {
      sent.push(texts);
      return sent.length < 60 ? Promise.reject(full()) : append.call(engine.ledger, session, texts);
    });
    const written = owed();
    const answer = appendAll(engine, id, [written]);
    for (let waited = 0; waited < 60; waited++) await wait(1_000);
    expect(await answer).toEqual([{ kind: "void", reason: "duplicate" }]);
    expect(new Set(sent.flat())).toEqual(new Set([written.text]));
  });
  it("is given up with its error where the caller has no more patience", async () => {
    const { engine, owed, wait } = await engineWithOwedDispatch();
    vi.spyOn(engine.ledger, "append").mockImplementation(() => Promise.reject(full()));
    const answer = appendAll({ ...engine, patienceMs: 4_000 }, id, [owed()]).catch((error: unknown) => error);
    for (let waited = 0; waited < 6; waited++) await wait(1_000);
    expect(await answer).toMatchObject({ code: "ledger_full" });
  });
});

describe("reading back", () => {
  it("answers each of two writers who derive the same record at different times: both ids are equal, their texts are not", async () => {
    const { engine, owed, wait } = await engineWithOwedDispatch();
    const first = owed();
    await wait(5);
    const second = owed();
    expect(second.record.eventId).toBe(first.record.eventId);
    expect(second.text).not.toBe(first.text);
    const verdicts = await Promise.all([appendAll(engine, id, [first]), appendAll(engine, id, [second])]);
    expect(verdicts).toEqual([[{ kind: "void", reason: "duplicate" }], [{ kind: "void", reason: "duplicate" }]]);
  });
  it("answers both where the bytes are the same, too", async () => {
    const { engine, owed } = await engineWithOwedDispatch();
    const [first, second] = [owed(), owed()];
    expect(second?.text).toBe(first?.text);
    expect(await Promise.all([appendAll(engine, id, [first as Written]), appendAll(engine, id, [second as Written])])).toHaveLength(2);
  });
  it("gives nobody an answer for a text that was given up", async () => {
    const { engine, owed } = await engineWithOwedDispatch();
    const written = owed();
    const answers: unknown[] = [];
    engine.folds.expect([written], (verdicts) => answers.push(verdicts));
    engine.folds.abandon(written);
    await engine.ledger.append(id, [written.text]);
    await engine.folds.caughtUp();
    expect(answers).toEqual([]);
  });
});
