import { describe, expect, it } from "vitest";
import type { LogEntry } from "../../ports/index.ts";
import { CommitQueue } from "./commit-queue.ts";
import type { Batch } from "./commit-writer.ts";
import type { Reactor } from "./reactor.ts";

class Busy extends Error {}

/** A queue before a file that throws what the script says, one try after the other, and then takes everything. */
function scripted(script: readonly (Error | null)[]) {
  const tries = [...script];
  const state = { nowMs: 0, written: [] as string[][], told: [] as unknown[], missed: 0, failure: null as Error | null };
  const reactor: Reactor = {
    now: (call) => {
      call();
      return () => undefined;
    },
    again: (error, call, key) => {
      state.told.push([error, key]);
      call();
      return () => undefined;
    },
    after: () => () => undefined, failed: () => undefined, works: () => undefined,
  };
  const queue = new CommitQueue({
    clock: { now: () => 0, monotonic: () => state.nowMs, after: () => () => undefined },
    write: (batches: readonly Batch[]): readonly LogEntry[] => {
      const failure = tries.shift() ?? null;
      if (failure !== null) throw failure;
      state.written.push(batches.flatMap(({ values }) => values));
      return [];
    },
    committed: () => {
      if (state.failure !== null) throw state.failure;
    },
    missed: () => {
      state.missed += 1;
    },
    isBusy: (error) => error instanceof Busy, explain: (error) => `told: ${(error as Error).message}`, reactor,
  });
  return { queue, state };
}
const turn = (): Promise<void> => new Promise((done) => setImmediate(done));
const batch = (...values: string[]): Batch => ({ key: "s", values });

describe("a batch that waits for its commit", () => {
  it("is acknowledged after its transaction alone: where that fails its caller is told, and the next one has its turn", async () => {
    const { queue, state } = scripted([new Error("the disk is full")]);
    await expect(queue.add(batch("1"))).rejects.toBe("told: the disk is full");
    expect(state.written).toEqual([]);
    const acknowledged = queue.add(batch("2", "3")).then(() => state.written.flat());
    expect(state.written).toEqual([]);
    expect(await acknowledged).toEqual(["2", "3"]);
  });

  it("waits for a busy ledger while the process goes on, and is written once, before what came later", async () => {
    const { queue, state } = scripted([new Busy(), new Busy(), new Busy()]);
    // As many as one transaction takes, so that what came later waits behind it.
    const values = Array.from({ length: 2_000 }, (_, i) => `${i}`);
    const all = Promise.all([queue.add(batch(...values)), queue.add(batch("later")), queue.add(batch("last"))]);
    await turn();
    await turn();
    expect(state.written).toEqual([]);
    await all;
    await queue.idle();
    expect(state.written).toEqual([values, ["later", "last"]]);
  });

  it("is given up where the ledger is busy for too long, and those behind it are tried", async () => {
    const { queue, state } = scripted([new Busy("held"), new Busy("held")]);
    const first = queue.add(batch("1")).catch((error: unknown) => error);
    await turn();
    state.nowMs = 31_000;
    expect(await first).toBe("told: held");
    await queue.add(batch("2"));
    expect(state.written).toEqual([["2"]]);
  });

  it("is acknowledged where readers could not be told of it: they are told again, and nobody loses his turn", async () => {
    const { queue, state } = scripted([]);
    state.failure = new Error("a listener's");
    await Promise.all([queue.add(batch("1")), queue.add(batch("2"))]);
    expect([state.told, state.missed]).toEqual([[[state.failure, "readers"]], 1]);
    state.failure = null;
    await queue.add(batch("3"));
    expect(state.written.flat()).toEqual(["1", "2", "3"]);
  });
});
