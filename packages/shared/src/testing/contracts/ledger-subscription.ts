/** What a subscription of a ledger owes: each entry once, in order, from any position, whoever appended it. */
import fc from "fast-check";
import type { Offset } from "../../core/brand.ts";
import type { Ledger, LogEntry, Positions } from "../../ports/index.ts";
import { fromStart, type LedgerWorld, readAll, session, values } from "./ledger-world.ts";
import { inWorld, type Vitest } from "./suite.ts";

/** Subscribes and gathers what comes. */
async function gather(ledger: Ledger, from: Positions) {
  const got: LogEntry[] = [];
  const subscription = await ledger.subscribe(from, (entries) => got.push(...entries));
  return { got, subscription };
}
const byPartition = (entries: readonly LogEntry[]): LogEntry[] => entries.toSorted((a, b) => a.partition - b.partition);

export function ledgerSubscriptionContract(vitest: Vitest, make: () => Promise<LedgerWorld>): void {
  delivery(vitest, make);
  lifetime(vitest, make);
}

function delivery({ it, expect }: Vitest, make: () => Promise<LedgerWorld>): void {
  it("hands on everything from the start, once and in the order of each partition", inWorld(make, async (world) => {
    const ledger = await world.open();
    for (let i = 0; i < 40; i++) await ledger.append(session(`d${i % 6}`), [`${i}a`, `${i}b`]);
    const { got, subscription } = await gather(ledger, fromStart(ledger));
    await subscription.caughtUp();
    expect(byPartition(got)).toEqual(await readAll(ledger));
  }));

  it("hands on from any position, across what stands there and what comes while it reads", inWorld(make, async (world) => {
    const [one, two] = [await world.open(), await world.open()];
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ key: fc.integer({ min: 0, max: 8 }), records: fc.integer({ min: 1, max: 4 }), by: fc.boolean() }), { maxLength: 30 }),
        fc.nat(30), fc.double({ min: 0, max: 1, noNaN: true }),
        async (plan, live, share) => {
          const append = async (steps: typeof plan): Promise<unknown> => Promise.all(steps.map(({ key, records, by }) =>
            (by ? one : two).append(session(`p${key}`), Array.from({ length: records }, (_, r) => `${key}/${r}`))));
          await append(plan.slice(0, live));
          const all = await readAll(one);
          const from = positionsAt(one, all, share);
          const reader = await gather(one, from);
          await append(plan.slice(live));
          await reader.subscription.caughtUp();
          await reader.subscription.close();
          const expected = (await readAll(one)).filter((entry) => entry.offset >= (from.get(entry.partition) as Offset));
          expect(byPartition(reader.got)).toEqual(expected);
        },
      ),
      { numRuns: 15 },
    );
  }));

  it("hands on own appends and those of other handles in log order", inWorld(make, async (world) => {
    const [one, two] = [await world.open(), await world.open()];
    const reader = await gather(one, await one.end());
    const writes: Promise<void>[] = [];
    for (let i = 0; i < 60; i++) writes.push((i % 2 === 0 ? one : two).append(session(`m${i % 4}`), [`${i}a`, `${i}b`]));
    await Promise.all(writes);
    await reader.subscription.caughtUp();
    expect(reader.got).toHaveLength(120);
    expect(byPartition(reader.got)).toEqual((await readAll(one)).filter((entry) => entry.key.startsWith("m")));
  }));

  it("stays in order when another handle has appended very much in between", inWorld(make, async (world) => {
    const [one, two] = [await world.open(), await world.open()];
    const reader = await gather(one, await one.end());
    await reader.subscription.caughtUp();
    const flood = Array.from({ length: 9_000 }, (_, i) => `${i}`);
    await Promise.all([two.append(session("flood"), flood), one.append(session("drop"), ["1"])]);
    await one.append(session("drop"), ["2"]);
    await one.append(session("flood"), ["end"]);
    await reader.subscription.caughtUp();
    expect(values(reader.got.filter((entry) => entry.key === "flood"))).toEqual([...flood, "end"]);
    expect(values(reader.got.filter((entry) => entry.key === "drop"))).toEqual(["1", "2"]);
  }));

  it("has handed on at caughtUp what another handle had appended before the call", inWorld(make, async (world) => {
    const [reader, writer] = [await world.open(), await world.open()];
    const { got, subscription } = await gather(reader, await reader.end());
    for (let i = 0; i < 10; i++) {
      await writer.append(session("other"), [String(i)]);
      await subscription.caughtUp();
      expect(got.at(-1)?.value).toBe(String(i));
    }
  }));

  it("begins at a position that another handle has told, also where it has not seen the log go that far", inWorld(make, async (world) => {
    const [reader, writer] = [await world.open(), await world.open()];
    // Appended and subscribed in one go: news of the appends cannot have reached the reader by itself.
    await Promise.all(["1", "2", "3"].map((value) => writer.append(session("told"), [value])));
    const { got, subscription } = await gather(reader, await writer.end());
    await subscription.caughtUp();
    await writer.append(session("told"), ["4"]);
    await subscription.caughtUp();
    expect(values(got)).toEqual(["4"]);
  }));

  it("keeps subscriptions of one handle apart", inWorld(make, async (world) => {
    const ledger = await world.open();
    const early = await gather(ledger, await ledger.end());
    await ledger.append(session("apart"), ["1"]);
    const late = await gather(ledger, await ledger.end());
    await ledger.append(session("apart"), ["2"]);
    await Promise.all([early.subscription.caughtUp(), late.subscription.caughtUp()]);
    expect([values(early.got), values(late.got)]).toEqual([["1", "2"], ["2"]]);
  }));

  it("hands on only the partitions that have a position", inWorld(make, async (world) => {
    const ledger = await world.open();
    const { got, subscription } = await gather(ledger, new Map([[1, 0 as Offset]]));
    for (let i = 0; i < 24; i++) await ledger.append(session(`only${i}`), ["x"]);
    await subscription.caughtUp();
    expect(got).toEqual(await ledger.read(1, 0 as Offset, 1_000));
    expect(got.length).toBeGreaterThan(1);
  }));
}

function lifetime({ it, expect }: Vitest, make: () => Promise<LedgerWorld>): void {
  it("lets a listener append, and hands that on too", inWorld(make, async (world) => {
    const ledger = await world.open();
    const got: string[] = [];
    const appended: Promise<void>[] = [];
    const subscription = await ledger.subscribe(await ledger.end(), (entries) => {
      for (const { value } of entries) {
        got.push(value ?? "");
        if (got.length < 20) appended.push(ledger.append(session("echo"), [`${got.length}`]));
      }
    });
    await ledger.append(session("echo"), ["0"]);
    while (got.length < 20) await subscription.caughtUp();
    await Promise.all(appended);
    expect(got).toEqual(Array.from({ length: 20 }, (_, i) => String(i)));
  }));

  it("hands nothing to a subscription that is closed", inWorld(make, async (world) => {
    const ledger = await world.open();
    const { got, subscription } = await gather(ledger, await ledger.end());
    await ledger.append(session("gone"), ["1"]);
    await subscription.caughtUp();
    await subscription.close();
    await subscription.close();
    await ledger.append(session("gone"), ["2"]);
    const { got: all, subscription: other } = await gather(ledger, fromStart(ledger));
    await other.caughtUp();
    expect(values(all)).toContain("2");
    expect(values(got)).toEqual(["1"]);
  }));

  it("refuses a position after the end: what was read there is lost", inWorld(make, async (world) => {
    const ledger = await world.open();
    const ahead = new Map([...(await ledger.end())].map(([partition, next]) => [partition, (next + 100) as Offset]));
    await expect(ledger.subscribe(ahead, () => {})).rejects.toMatchObject({ code: "ledger_lost", then: "stop" });
  }));

  it("lets go of who waits for caughtUp when the ledger is closed, and does not say that it caught up when it did not", inWorld(make, async (world) => {
    const ledger = await world.open();
    for (let i = 0; i < 20; i++) await ledger.append(session("many"), ["1", "2", "3"]);
    const { got, subscription } = await gather(ledger, fromStart(ledger));
    const waiting = subscription.caughtUp().then(() => "caught up", (error: { code: string }) => error.code);
    await ledger.close();
    expect(await waiting).toBe(got.length === 60 + ledger.partitions ? "caught up" : "ledger_closed");
    await expect(subscription.caughtUp()).rejects.toMatchObject({ code: "ledger_closed" });
  }));
}

/** Positions that leave about `share` of each partition behind them. */
function positionsAt(ledger: Ledger, all: readonly LogEntry[], share: number): Positions {
  return new Map(Array.from({ length: ledger.partitions }, (_, partition) => {
    const own = all.filter((entry) => entry.partition === partition);
    const entry = own[Math.floor(own.length * share)];
    return [partition, (entry?.offset ?? (own.at(-1)?.offset ?? -1) + 1) as Offset];
  }));
}
