/** The shell on ports in memory: what happens between a dead letter and the moved position, and while something is away. */
import { LoopledgerError } from "@loopledger/shared/core/errors";
import type { SessionId } from "@loopledger/shared/core/brand";
import { createMemoryBlobs, createMemoryDeadLetters, createMemoryInbox, createMemoryLedger, createMemoryOwnership } from "@loopledger/shared/memory";
import type { DeadLetters, Handlers, Inbox, InboxHandler, Ledger, RawContent } from "@loopledger/shared/ports";
import { makeEngine, replayDeadLetter } from "@loopledger/shared/runtime";
import { createSystemClock, createSystemHost, createSystemIds } from "@loopledger/shared/system";
import { afterEach, describe, expect, it, vi } from "vitest";
import { startIntake } from "../src/intake.ts";

const clock = createSystemClock();
const ids = createSystemIds();
const handlers: Handlers = { maker: () => null, check: () => null, tool: () => null, toolNames: () => [] };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const goal = (more: object = {}): string => JSON.stringify({ goal: "Mend it", maker: "m", check: "c", ...more });
const record = (key: string, value: string): RawContent => ({ key: bytes(key), value: bytes(value), headers: {} });
const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

interface Adapt {
  readonly ledger?: (ledger: Ledger) => Ledger;
  readonly letters?: (letters: DeadLetters) => DeadLetters;
  readonly read?: (inbox: Inbox) => Inbox["read"];
}
async function start(adapt: Adapt = {}) {
  const memory = createMemoryLedger({ clock }).handle();
  const ledger = adapt.ledger?.(memory) ?? memory;
  const letters = createMemoryDeadLetters();
  const inbox = createMemoryInbox({ clock });
  const engine = makeEngine(
    { ledger, ownership: createMemoryOwnership({ clock }).handle(), blobs: createMemoryBlobs(), clock, ids, host: createSystemHost(), handlers, inbox: { ...inbox, read: adapt.read?.(inbox) ?? inbox.read }, deadLetters: adapt.letters?.(letters) ?? letters },
    { leaseMs: 1_000, silenceMs: 1_000 },
  );
  await engine.folds.start(await ledger.end());
  const intake = await startIntake(engine);
  endings.push(() => engine.folds.close(), () => intake.stop());
  const accepted = async (id: string): Promise<string | undefined> => (await engine.folds.open(id as SessionId)).submission?.goal.goal;
  return { engine, inbox, letters, intake, accepted };
}

describe("the intake", () => {
  it("moves its position only when the goal is on the ledger, and takes what stands behind a bad one", async () => {
    const { inbox, letters, accepted } = await start();
    for (const one of [record("a", goal()), record("a", "no goal"), record("b", goal()), record("a", goal({ goal: "Another" })), record("a", goal())]) await inbox.put(one);
    await vi.waitFor(() => expect(inbox.committed()).toEqual([5]));
    expect([await accepted("a"), await accepted("b")]).toEqual(["Mend it", "Mend it"]);
    expect((await letters.list({ limit: 9 })).items.map(({ reason, source }) => [reason, source.offset]).sort()).toEqual([["id_conflict", 3], ["not_json", 1]]);
  });

  it("takes different sessions side by side, and those of one in order: what stands behind one that waits waits too", async () => {
    const { promise: goesOn, resolve: goOn } = Promise.withResolvers<void>();
    let waits = 0;
    const there = [record("slow", goal()), record("slow", goal({ goal: "Another" })), record("quick", goal())];
    const read = (inner: Inbox) => async (handler: InboxHandler) => {
      for (const one of there) await inner.put(one);
      return inner.read(handler);
    };
    const { inbox, letters, engine, accepted } = await start({ read, ledger: (inner) => ({
      ledgerId: inner.ledgerId, partitions: inner.partitions, partitionOf: inner.partitionOf.bind(inner), read: inner.read.bind(inner),
      readSession: inner.readSession.bind(inner), end: inner.end.bind(inner), subscribe: inner.subscribe.bind(inner), close: inner.close.bind(inner),
      append: async (id, texts) => {
        // Its first goal alone waits: one that overtook it would be the session's.
        if (id === ("slow" as SessionId) && waits++ === 0) await goesOn;
        return inner.append(id, texts);
      },
    }) });
    endings.push(async () => goOn());
    await vi.waitFor(async () => expect(await accepted("quick")).toBe("Mend it"));
    expect([engine.folds.peek("slow" as SessionId)?.submission ?? null, inbox.committed()]).toEqual([null, [0]]);
    goOn();
    await vi.waitFor(() => expect(inbox.committed()).toEqual([3]));
    expect(await accepted("slow")).toBe("Mend it");
    expect((await letters.list({ limit: 9 })).items.map(({ reason, source }) => [reason, source.offset])).toEqual([["id_conflict", 1]]);
  });

  it("that died between a dead letter and its position sets the record aside once", async () => {
    let deaths = 0;
    const { inbox, letters, engine } = await start({ letters: (inner) => ({ ...inner, put: async (fresh) => {
      await inner.put(fresh);
      if (deaths++ === 0) throw new LoopledgerError("ledger_unreachable", "The answer was lost.");
    } }) });
    await inbox.put(record("a", "no goal"));
    await vi.waitFor(() => expect(inbox.committed()).toEqual([1]));
    expect(deaths).toBe(2);
    expect((await letters.list({ limit: 9 })).items).toHaveLength(1);
    await vi.waitFor(() => expect(engine.supervision.faulty()).toEqual([]));
  });

  it("is not ready, and stands still, for as long as dead letters cannot be written", async () => {
    let isAway = true;
    const { inbox, letters, engine } = await start({ letters: (inner) => ({ ...inner, put: async (fresh) => {
      if (isAway) throw new LoopledgerError("ledger_unreachable", "Nobody answers.");
      await inner.put(fresh);
    } }) });
    await inbox.put(record("a", "no goal"));
    await vi.waitFor(() => expect(engine.supervision.faulty()).toEqual(["intake"]));
    expect(inbox.committed()).toEqual([0]);
    isAway = false;
    await vi.waitFor(() => expect(inbox.committed()).toEqual([1]));
    expect((await letters.list({ limit: 9 })).items).toHaveLength(1);
    expect(engine.supervision.faulty()).toEqual([]);
  });

  it("takes in what is put back: mended it is a session, as it was another dead letter, and the first one is marked", async () => {
    const { inbox, letters, engine, accepted } = await start();
    await inbox.put(record("a", "no goal"));
    await vi.waitFor(() => expect(inbox.committed()).toEqual([1]));
    const ports = { inbox, deadLetters: letters, clock };
    expect(await replayDeadLetter(ports, "goals-0-0")).toMatchObject({ kind: "replayed", topic: "goals" });
    await vi.waitFor(() => expect(inbox.committed()).toEqual([2]));
    expect((await letters.list({ limit: 9 })).items.map(({ id, replayedAt }) => [id, replayedAt !== null]).sort()).toEqual([["goals-0-0", true], ["goals-0-1", false]]);
    await replayDeadLetter(ports, "goals-0-1", { value: bytes(goal()), key: null });
    await replayDeadLetter(ports, "goals-0-1", { value: bytes(goal()), key: null });
    await vi.waitFor(() => expect(inbox.committed()).toEqual([4]));
    expect(await accepted("goals-0-1")).toBe("Mend it");
    expect(engine.folds.ids()).toEqual(["goals-0-1"]);
    expect(await replayDeadLetter(ports, "goals-0-9")).toEqual({ kind: "unknown" });
  });

  it("joins the topic again where it could not at first, and is not ready before", async () => {
    let tries = 0;
    const { inbox, intake, engine, accepted } = await start({ read: (inner) => async (handler) => {
      if (tries++ < 2) throw new LoopledgerError("ledger_unreachable", "No broker answers.");
      return inner.read(handler);
    } });
    expect([intake.ready(), engine.supervision.faulty()]).toEqual([false, ["intake"]]);
    await inbox.put(record("a", goal()));
    await vi.waitFor(() => expect(inbox.committed()).toEqual([1]));
    expect([intake.ready(), engine.supervision.faulty(), await accepted("a")]).toEqual([true, [], "Mend it"]);
  });

  it("says when the topic itself makes trouble, and for good when records were removed unread", async () => {
    let handler: InboxHandler | null = null;
    const { engine } = await start({ read: (inner) => (given) => {
      handler = given;
      return inner.read(given);
    } });
    const told = handler as InboxHandler | null;
    told?.troubled(new Error("The coordinator has moved."));
    expect(engine.supervision.faulty()).toEqual(["intake.topic"]);
    await vi.waitFor(() => expect(engine.supervision.faulty()).toEqual([]));
    told?.gap({ from: { topic: "goals", partition: 0, offset: 3 }, to: 9 });
    expect(engine.supervision.faulty()).toEqual(["intake.gap"]);
  });

  it("leaves the topic when it is stopped", async () => {
    const { inbox, intake } = await start();
    expect(intake.ready()).toBe(true);
    await intake.stop();
    expect([intake.ready(), await intake.over]).toEqual([false, null]);
    await inbox.put(record("a", goal()));
    expect(inbox.committed()).toEqual([0]);
  });
});
