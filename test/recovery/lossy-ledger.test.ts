/** Between the processes and the ledger everything goes wrong: lost requests, lost answers, repeats, delays, late news. What counts is what is read back. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { statusOf } from "@loopledger/shared/core/session/status";
import { describe, expect, test } from "vitest";
import { deploying } from "../support/worlds/deploying.ts";
import { memoryWorld } from "../support/worlds/memory-world.ts";
import { brokenBy, brokenEffects, countOf, foldSession, voidsOf } from "../support/worlds/oracle.ts";
import { type Door, Target, answerLost } from "../support/worlds/target.ts";
import { submit, untilOver } from "../support/worlds/world.ts";

const faults = { loseAck: 0.25, drop: 0.15, duplicate: 0.2, delayMs: [1, 20], lagMs: [1, 30], chunkMax: 3, timeoutMs: 100 } as const;
const seeds = Array.from({ length: 12 }, (_, index) => index + 1);
const doorOf = (seed: number): Door => (["idempotent", "fenced", "windowed"] as const)[seed % 3] ?? "idempotent";

describe("F3 F8 F25 F33 appends whose fate is unknown", () => {
  test.each(seeds)("seed %i: three iterations by two processes, of which the first dies, each effect once", async (seed) => {
    const folder = mkdtempSync(join(tmpdir(), "loopledger-lossy-"));
    const target = new Target(folder);
    const world = memoryWorld({ seed, leaseMs: 500 });
    const how = { target, iterations: 3, door: doorOf(seed), windowSeconds: 2 };
    const first = await world.join({ handlers: deploying(how), faults });
    const second = await world.join({ handlers: deploying(how), faults });
    const good = (apply: () => ReturnType<typeof answerLost>) => apply();
    target.next("s", answerLost, good, (apply) => {
      const answer = apply();
      first.process.kill();
      return answer;
    });
    first.work();
    const id = await world.drive(submit(first, "s"));
    second.work();
    const state = await untilOver(world, id);
    const folded = foldSession(await world.entries(), id);
    expect(statusOf(state)).toMatchObject({ disposition: "done", iteration: 3, receipt: { sessionId: "s" } });
    expect([...brokenBy(folded), ...brokenEffects(folded, target.rows())]).toEqual([]);
    expect(target.count("s")).toBe(3);
    expect(countOf(folded, "built")).toBe(3);
    expect(voidsOf(folded).length).toBeGreaterThan(0);
    await world.close();
    target.close();
    rmSync(folder, { recursive: true, force: true });
  });
});
