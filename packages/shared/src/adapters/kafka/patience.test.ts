import { describe, expect, it } from "vitest";
import { LoopledgerError } from "../../core/errors.ts";
import { persist } from "./patience.ts";
import type { Topology } from "./topology.ts";

/** Tries that fail so often and then give something, with what happens between them. */
function trying(failures: readonly Error[], patienceMs = 60_000) {
  const happened: string[] = [];
  const pauses: number[] = [];
  const left = [...failures];
  let nowMs = 0;
  const topology = {
    topic: "x.ledger", isLedger: true, connection: { ssl: null },
    refresh: async () => void happened.push("look"),
    pause: async (ms: number) => {
      pauses.push(ms);
      nowMs += ms;
    },
  } as unknown as Topology;
  const attempt = async (): Promise<string> => {
    happened.push("try");
    const failure = left.shift();
    if (failure !== undefined) throw failure;
    return "given";
  };
  const clock = { now: () => 0, monotonic: () => nowMs, after: () => () => undefined };
  const outcome = persist(attempt, { topology, clock, patienceMs, check: async () => void happened.push("check") });
  return { happened, pauses, outcome };
}
const many = (count: number): Error[] => Array.from({ length: count }, (_, i) => new Error(`the ${i}th failure`));

describe("what is tried again while brokers come and go", () => {
  it("is tried after a fresh look at who leads, and at whether the topic still is the one that was opened", async () => {
    const { happened, outcome } = trying(many(2));
    expect(await outcome).toBe("given");
    expect(happened).toEqual(["try", "look", "check", "try", "look", "check", "try"]);
  });

  it("comes at once for the first time, then after pauses that grow to half a second and no further", async () => {
    const { pauses, outcome } = trying(many(20));
    await outcome;
    expect(pauses[0]).toBe(0);
    expect(pauses.slice(1)).toEqual(pauses.slice(1).toSorted((a, b) => a - b));
    expect([pauses[1], pauses.at(-1), Math.max(...pauses)]).toEqual([50, 500, 500]);
  });

  it("ends as unreachable, with the last failure as its cause, once the patience is over", async () => {
    const failures = many(100);
    const { happened, outcome } = trying(failures, 2_000);
    const error = await outcome.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "ledger_unreachable", then: "retry" });
    const tries = happened.filter((one) => one === "try").length;
    expect((error as Error).cause).toBe(failures[tries - 1]);
  });

  it("is not tried again where the catalogue says what is the matter", async () => {
    const { happened, outcome } = trying([new LoopledgerError("ledger_lost", "It is another log.")]);
    await expect(outcome).rejects.toMatchObject({ code: "ledger_lost" });
    expect(happened).toEqual(["try"]);
  });
});
