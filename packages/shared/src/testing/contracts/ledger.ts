/** What every ledger owes, whatever it is made of. */
import fc from "fast-check";
import type { Offset } from "../../core/brand.ts";
import { ledgerKey, partitionOf } from "../../core/placement.ts";
import type { Ledger } from "../../ports/index.ts";
import { ledgerSubscriptionContract } from "./ledger-subscription.ts";
import { type LedgerWorld, readAll, session, values } from "./ledger-world.ts";
import { inWorld, type Vitest } from "./suite.ts";

export function ledgerContract(vitest: Vitest, name: string, make: () => Promise<LedgerWorld>): void {
  vitest.describe(`ledger on ${name}`, () => {
    identity(vitest, make);
    appending(vitest, make);
    reading(vitest, make);
    ledgerSubscriptionContract(vitest, make);
  });
}

function identity({ it, expect }: Vitest, make: () => Promise<LedgerWorld>): void {
  it("has one id and one partition count for all handles", inWorld(make, async (world) => {
    const [one, two] = [await world.open(), await world.open()];
    expect(one.ledgerId).not.toBe("");
    expect([two.ledgerId, two.partitions]).toEqual([one.ledgerId, one.partitions]);
  }));

  it("begins every partition with a record that says which ledger it is", inWorld(make, async (world) => {
    const ledger = await world.open();
    for (let partition = 0; partition < ledger.partitions; partition++) {
      const [first] = await ledger.read(partition, 0 as Offset, 1);
      expect(first?.key).toBe(ledgerKey(partition));
      expect(JSON.parse(first?.value ?? "")).toMatchObject({
        ledgerId: ledger.ledgerId, type: "ledger_initialised", typeVersion: 1, sessionId: ledgerKey(partition),
        data: { ledgerId: ledger.ledgerId, partitions: ledger.partitions, format: 1 },
      });
    }
  }));

  it("places keys as the core says", inWorld(make, async (world) => {
    const ledger = await world.open();
    fc.assert(fc.property(fc.string(), (key) => ledger.partitionOf(key) === partitionOf(key, ledger.partitions)));
    await ledger.append(session("placed"), ["x"]);
    const [entry] = await ledger.readSession(session("placed"));
    expect(entry?.partition).toBe(partitionOf("placed", ledger.partitions));
  }));
}

function appending({ it, expect }: Vitest, make: () => Promise<LedgerWorld>): void {
  it("keeps what was acknowledged, with offsets that grow and times that never go back", inWorld(make, async (world) => {
    const ledger = await world.open();
    for (let i = 0; i < 20; i++) await ledger.append(session(`s${i % 5}`), [`${i}a`, `${i}b`]);
    const entries = await readAll(ledger);
    for (let partition = 0; partition < ledger.partitions; partition++) {
      const own = entries.filter((entry) => entry.partition === partition);
      for (const [i, entry] of own.entries()) {
        const before = own[i - 1];
        if (before !== undefined) expect(entry.offset).toBeGreaterThan(before.offset);
        if (before !== undefined) expect(entry.time).toBeGreaterThanOrEqual(before.time);
      }
    }
    expect(values(entries.filter((entry) => entry.key.startsWith("s"))).sort()).toEqual(
      Array.from({ length: 20 }, (_, i) => [`${i}a`, `${i}b`]).flat().sort(),
    );
  }));

  it("writes the appends of one handle in the order of the calls", inWorld(make, async (world) => {
    const ledger = await world.open();
    const numbers = Array.from({ length: 200 }, (_, i) => String(i));
    await Promise.all(numbers.map((number) => ledger.append(session("ordered"), [number])));
    expect(values(await ledger.readSession(session("ordered")))).toEqual(numbers);
  }));

  it("keeps batches whole while many handles write at once", inWorld(make, async (world) => {
    const handles = [await world.open(), await world.open(), await world.open()];
    const appends = handles.flatMap((handle, h) =>
      Array.from({ length: 40 }, (_, i) => handle.append(session(`s${i % 3}`), [`${h}/${i}/1`, `${h}/${i}/2`, `${h}/${i}/3`])));
    await Promise.all(appends);
    const entries = (await readAll(handles[0] as Ledger)).filter((entry) => entry.key.startsWith("s"));
    expect(entries).toHaveLength(360);
    for (let i = 0; i < entries.length; i += 3) {
      const batch = values(entries.slice(i, i + 3)).map((value) => value?.split("/"));
      expect(batch.map((parts) => parts?.[2])).toEqual(["1", "2", "3"]);
      expect(new Set(batch.map((parts) => `${parts?.[0]}/${parts?.[1]}`)).size).toBe(1);
    }
  }));

  it("takes an empty batch as done", inWorld(make, async (world) => {
    const ledger = await world.open();
    await ledger.append(session("empty"), []);
    expect(await ledger.readSession(session("empty"))).toEqual([]);
  }));

  it("gives text back as it was, of any script and size", inWorld(make, async (world) => {
    const ledger = await world.open();
    const texts = ["", "Größe", "日本語", "😀🏳️‍🌈", "\u0001\t\n\\\"", "x".repeat(100_000)];
    await ledger.append(session("text"), texts);
    expect(values(await (await world.open()).readSession(session("text")))).toEqual(texts);
  }));

  it("refuses half characters and NUL, which no two readers would read alike", inWorld(make, async (world) => {
    const ledger = await world.open();
    await expect(ledger.append(session("half"), ["whole", "\ud800"])).rejects.toThrow(RangeError);
    await expect(ledger.append(session("half"), ["\u0000"])).rejects.toThrow(RangeError);
    expect(await ledger.readSession(session("half"))).toEqual([]);
  }));

  it("settles what was appended before it is closed, and takes nothing afterwards", inWorld(make, async (world) => {
    const ledger = await world.open();
    const pending = ledger.append(session("closing"), ["last"]);
    await ledger.close();
    await pending;
    await expect(ledger.append(session("closing"), ["late"])).rejects.toMatchObject({ code: "ledger_closed", then: "stop" });
    expect(values(await (await world.open()).readSession(session("closing")))).toEqual(["last"]);
  }));
}

function reading({ it, expect }: Vitest, make: () => Promise<LedgerWorld>): void {
  it("reads a partition from any offset, in order, at most as many as asked for", inWorld(make, async (world) => {
    const ledger = await world.open();
    for (let i = 0; i < 30; i++) await ledger.append(session(`r${i % 7}`), [`${i}`]);
    for (let partition = 0; partition < ledger.partitions; partition++) {
      const all = await ledger.read(partition, 0 as Offset, 1_000);
      for (const [i, entry] of all.entries()) {
        expect(await ledger.read(partition, entry.offset, 3)).toEqual(all.slice(i, i + 3));
      }
    }
  }));

  it("answers with nothing at the end of a partition, and nowhere before it, however few are asked for", inWorld(make, async (world) => {
    const ledger = await world.open();
    for (let i = 0; i < 12; i++) await ledger.append(session(`e${i % 5}`), [`${i}`]);
    for (const [partition, end] of await ledger.end()) {
      for (let from = 0; from < end; from++) {
        const [first] = await ledger.read(partition, from as Offset, 1);
        expect(first?.offset).toBeGreaterThanOrEqual(from);
      }
      expect(await ledger.read(partition, end, 1)).toEqual([]);
    }
  }));

  it("reads one session alone, from any offset", inWorld(make, async (world) => {
    const ledger = await world.open();
    for (let i = 0; i < 12; i++) await ledger.append(session(`r${i % 4}`), [`${i}`]);
    const all = await ledger.readSession(session("r2"));
    expect(all.map((entry) => [entry.key, entry.value])).toEqual([["r2", "2"], ["r2", "6"], ["r2", "10"]]);
    expect(await ledger.readSession(session("r2"), all[1]?.offset)).toEqual(all.slice(1));
    expect(await ledger.readSession(session("nobody"))).toEqual([]);
  }));

  it("says where each partition ends", inWorld(make, async (world) => {
    const ledger = await world.open();
    await ledger.append(session("end"), ["1", "2"]);
    const end = await ledger.end();
    expect([...end.keys()].sort()).toEqual(Array.from({ length: ledger.partitions }, (_, p) => p));
    for (const [partition, next] of end) {
      expect(await ledger.read(partition, next, 10)).toEqual([]);
      const last = (await ledger.read(partition, 0 as Offset, 1_000)).at(-1);
      expect(next).toBe((last?.offset ?? 0) + 1);
    }
    await ledger.append(session("end"), ["3"]);
    const home = ledger.partitionOf("end");
    expect(values(await ledger.read(home, end.get(home) as Offset, 10))).toEqual(["3"]);
  }));
}
