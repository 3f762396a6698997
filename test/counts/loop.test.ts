/**
 * What an iteration of the embedded loop costs, counted and not timed: appends, commits, validations, digests, JSON, and what must
 * not be on its path at all. Whoever makes it do more sees it here before anybody sees it on a clock.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { envelope } from "@loopledger/shared/core/events/envelope";
import { catalogue } from "@loopledger/shared/core/events/index";
import type { Offset, SessionId } from "@loopledger/shared/core/brand";
import { type Ports, nextChange } from "@loopledger/shared/runtime";
import { type Loop, openLoop } from "../bench/embedded-loop.ts";

const iterations = 20;
/** Longer than any run: nothing of the lease's own passes meanwhile. */
const leaseMs = 3_600_000;

/** How often each thing was asked for. */
class Counts {
  readonly #counts = new Map<string, number>();
  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }
  add(name: string, count = 1): void {
    this.#counts.set(name, this.of(name) + count);
  }
  reset(): void {
    this.#counts.clear();
  }
  /** The same object, whose calls of these names are counted. */
  watch<T extends object>(subject: T, names: readonly (keyof T & string)[]): T {
    const watched = Object.create(subject) as T;
    for (const name of names) {
      const call = subject[name] as (...given: unknown[]) => unknown;
      Object.defineProperty(watched, name, {
        value: (...given: unknown[]) => {
          this.add(name);
          if (name === "append") this.add("records", (given[1] as readonly string[]).length);
          return call.apply(subject, given);
        },
      });
    }
    return watched;
  }
}

let folder: string;
let counts: Counts;
let loop: Loop;
let runs = 0;

/** Ports whose private fields are their own: a view in front of them hands everything on. */
function counted(ports: Ports): Ports {
  const { ledger } = ports;
  const facade = {
    ledgerId: ledger.ledgerId, partitions: ledger.partitions, partitionOf: (key: string) => ledger.partitionOf(key),
    append: ledger.append.bind(ledger), read: ledger.read.bind(ledger), readSession: ledger.readSession.bind(ledger), end: ledger.end.bind(ledger),
    subscribe: ledger.subscribe.bind(ledger), close: ledger.close.bind(ledger),
  };
  return {
    ...ports, ledger: counts.watch(facade, ["append", "read", "readSession", "end"]),
    ownership: counts.watch(ports.ownership, ["holder", "tryTake"]), blobs: counts.watch(ports.blobs, ["put", "get"]),
    clock: counts.watch(ports.clock, ["after"]), ids: counts.watch(ports.ids, ["sha256", "uuid"]),
  };
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "loopledger-counts-"));
  counts = new Counts();
  loop = await openLoop(folder, { before: counted, leaseMs });
  await loop.run("warm", 2);
  counts.reset();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await loop.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** What one more iteration adds: the difference of two sessions that differ in their number of iterations. */
async function perIteration(count: () => number): Promise<number> {
  const at = count();
  await loop.run(`short-${++runs}`, 1);
  const short = count() - at;
  await loop.run(`long-${runs}`, 1 + iterations);
  return (count() - at - 2 * short) / iterations;
}

describe("one iteration of a maker step and a check step", () => {
  it("is two appends of two records", async () => {
    expect(await perIteration(() => counts.of("append"))).toBe(2);
    counts.reset();
    await loop.run("records", iterations);
    // The goal with its dispatch, and the claim, come before; receipt and report of the end stand in the place of a last dispatch.
    expect([counts.of("append"), counts.of("records")]).toEqual([2 + 2 * iterations, 3 + 4 * iterations + 1]);
  });
  it("validates each record that an owner makes once, and none when it is read back", async () => {
    const data = Object.values(catalogue).flatMap(({ versions }) => versions.map((schema) => vi.spyOn(schema, "safeParse")));
    const envelopes = vi.spyOn(envelope, "safeParse");
    expect(await perIteration(() => data.reduce((calls, one) => calls + one.mock.calls.length, 0))).toBe(2);
    // One that fits as it stands is not copied.
    expect(envelopes).not.toHaveBeenCalled();
  });
  it("writes each record out once, and reads none of its own again", async () => {
    const written = vi.spyOn(JSON, "stringify");
    const read = vi.spyOn(JSON, "parse");
    // Four records; the answers of maker and check, which are a boundary; the evidence's size; the failure's fingerprint, ahead and in the fold.
    expect(await perIteration(() => written.mock.calls.length)).toBeLessThanOrEqual(4 + 2 + 1 + 2);
    expect(await perIteration(() => read.mock.calls.length)).toBeLessThanOrEqual(2);
  });
  it("digests each record's text once; what else is digested are the ids of what is owed", async () => {
    expect(await perIteration(() => counts.of("sha256"))).toBeLessThanOrEqual(10);
  });
  it("asks no lease, no blob store and no timer, and reads the ledger only where its fold follows it", async () => {
    for (const name of ["holder", "tryTake", "put", "get", "after", "read", "readSession", "end"]) {
      expect(await perIteration(() => counts.of(name)), name).toBe(0);
    }
  });
});

describe("who waits until a session has come far enough", () => {
  it("is woken once, by one timer's setting, however many records lie between", async () => {
    let asked = 0;
    const far = nextChange(loop.engine, "watched" as SessionId, {
      maxMs: 60_000, signal: new AbortController().signal,
      until: (state) => {
        asked++;
        return state.end !== null;
      },
    });
    await loop.run("watched", iterations);
    await far;
    expect(counts.of("after")).toBe(1);
    expect(asked).toBeGreaterThan(4 * iterations);
    expect(loop.engine.folds.peek("watched" as SessionId)?.end).not.toBeNull();
  });
});

describe("many sessions at once", () => {
  it("share commits: their appends that wait go out together", async () => {
    const sessions = 50;
    let commits = 0;
    const { ledger } = loop.engine;
    const subscription = await ledger.subscribe(new Map([...(await ledger.end())] as [number, Offset][]), () => commits++);
    counts.reset();
    await Promise.all(Array.from({ length: sessions }, (_, at) => loop.run(`many-${at}`, iterations)));
    await subscription.caughtUp();
    await subscription.close();
    expect(counts.of("append")).toBe(sessions * (2 + 2 * iterations));
    expect(commits).toBeLessThanOrEqual(counts.of("append") / 10);
  });
});
