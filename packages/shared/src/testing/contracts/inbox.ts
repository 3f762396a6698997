/** What every topic of goals owes its readers: every record, in order, until it has been taken, with its position and its bytes. */
import type { Inbox, InboxRecord } from "../../ports/index.ts";
import { inWorld, type Vitest, type World } from "./suite.ts";

export interface InboxWorld extends World {
  /** Another process's handle. */
  open(): Promise<Inbox>;
  /** Waits for something that is not there yet. */
  until(condition: () => boolean, what: string): Promise<unknown>;
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (content: Uint8Array | null): string | null => (content === null ? null : new TextDecoder().decode(content));
const plain = (key: string | null, value: string | null) => ({ key: key === null ? null : bytes(key), value: value === null ? null : bytes(value), headers: {} });
const quiet = { gap: () => undefined, troubled: () => undefined };

export function inboxContract(vitest: Vitest, name: string, make: () => Promise<InboxWorld>): void {
  vitest.describe(`an inbox on ${name}`, () => {
    content(vitest, make);
    positions(vitest, make);
  });
}

function content({ it, expect }: Vitest, make: () => Promise<InboxWorld>): void {
  it("hands on keys, values and headers as they were put, with where they stand", inWorld(make, async (world) => {
    const [writer, reader] = [await world.open(), await world.open()];
    const value = Uint8Array.from([0, 255, 200]);
    await writer.put({ key: bytes("a"), value, headers: { raw: Uint8Array.from([200]), text: bytes("é") }, repeats: { text: [bytes("first"), bytes("")] } });
    for (const one of [plain("a", null), plain("a", ""), plain(null, "no key")]) await writer.put(one);
    const got: InboxRecord[] = [];
    await reader.read({ ...quiet, handle: async (records) => void got.push(...records) });
    await world.until(() => got.length >= 4, "all four records");
    const own = got.filter(({ key }) => text(key) === "a");
    expect(own.map((one) => (one.value === null ? null : [...one.value]))).toEqual([[...value], null, []]);
    expect(Object.entries(own[0]?.headers ?? {}).map(([name, content]) => [name, [...content]]).sort()).toEqual([["raw", [200]], ["text", [...bytes("é")]]]);
    expect(Object.entries(own[0]?.repeats ?? {}).map(([name, all]) => [name, all.map((content) => [...content])])).toEqual([["text", [[...bytes("first")], []]]]);
    const first = own[0]?.source.offset ?? -1;
    expect(own.map(({ source }) => source)).toEqual([first, first + 1, first + 2].map((offset) => ({ topic: reader.topic, partition: own[0]?.source.partition, offset })));
    expect(got.filter(({ key }) => key === null).map((one) => text(one.value))).toEqual(["no key"]);
  }));
}

function positions({ it, expect }: Vitest, make: () => Promise<InboxWorld>): void {
  it("hands the same records on again where the handler rejects, and then what comes behind them", inWorld(make, async (world) => {
    const inbox = await world.open();
    for (const value of ["1", "2"]) await inbox.put(plain("a", value));
    const tries: string[] = [];
    let isAway = true;
    await inbox.read({ ...quiet, handle: async (records) => {
      tries.push(records.map((one) => text(one.value)).join(""));
      if (isAway) throw new Error("The ledger is away.");
    } });
    await world.until(() => tries.length >= 2, "a second try");
    expect(tries[1]?.startsWith(tries[0] ?? "none")).toBe(true);
    isAway = false;
    await inbox.put(plain("a", "3"));
    await world.until(() => tries.at(-1)?.endsWith("3") ?? false, "what comes behind");
  }));

  it("goes on with other partitions for as long as one of them is not taken, also where the handler hangs", inWorld(make, async (world) => {
    const inbox = await world.open();
    const keys = Array.from({ length: 40 }, (_, i) => `key-${i}`);
    for (const key of keys) await inbox.put(plain(key, "first"));
    const seen: { readonly partition: number; readonly value: string | null }[] = [];
    let stuck: number | null = null;
    const hanging = Promise.withResolvers<void>();
    let tries = 0;
    await inbox.read({ ...quiet, handle: async (records) => {
      const partition = records[0]?.source.partition ?? 0;
      stuck ??= partition;
      if (stuck === partition) {
        tries++;
        if (tries > 2) await hanging.promise;
        throw new Error("Not now.");
      }
      seen.push(...records.map((one) => ({ partition, value: text(one.value) })));
    } });
    await world.until(() => tries >= 3, "the handler to hang");
    for (const key of keys) await inbox.put(plain(key, "second"));
    await world.until(() => new Set(seen.filter(({ value }) => value === "second").map(({ partition }) => partition)).size === 2, "what came later in the two other partitions");
    expect(seen.every(({ partition }) => partition !== stuck)).toBe(true);
    hanging.resolve();
  }));

  it("hands on to the next reader what the one before had not taken, and nothing that it had", inWorld(make, async (world) => {
    const inbox = await world.open();
    const taken: string[] = [];
    const take = async (records: readonly InboxRecord[]): Promise<void> => void taken.push(...records.map((one) => text(one.value) ?? ""));
    await inbox.put(plain("a", "1"));
    const first = await (await world.open()).read({ ...quiet, handle: take });
    await world.until(() => taken.length === 1, "the first record");
    await first.close();
    await inbox.put(plain("a", "2"));
    const hanging = Promise.withResolvers<void>();
    let isHandling = false;
    const second = await (await world.open()).read({ ...quiet, handle: () => {
      isHandling = true;
      return hanging.promise;
    } });
    await world.until(() => isHandling, "the second reader's handler");
    const leaving = second.close();
    hanging.reject(new Error("The reader has gone."));
    await leaving;
    await (await world.open()).read({ ...quiet, handle: take });
    await world.until(() => taken.length >= 2, "the second record");
    expect(taken).toEqual(["1", "2"]);
  }));

  it("lets two readers share what there is: each record reaches one of them", inWorld(make, async (world) => {
    const [one, two] = [await world.open(), await world.open()];
    const seen = new Set<string>();
    const take = async (records: readonly InboxRecord[]): Promise<void> => {
      for (const record of records) seen.add(text(record.value) ?? "");
    };
    await one.read({ ...quiet, handle: take });
    await two.read({ ...quiet, handle: take });
    await Promise.all(Array.from({ length: 60 }, (_, i) => one.put(plain(`key-${i}`, `value-${i}`))));
    await world.until(() => seen.size === 60, "all sixty records");
    expect(seen.size).toBe(60);
  }));
}
