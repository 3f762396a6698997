import { describe, expect, it } from "vitest";
import type { InboxRecord } from "../../ports/index.ts";
import { createMemoryInbox } from "./inbox.ts";
import { createVirtualClock } from "./virtual-clock.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const quiet = { gap: () => undefined, troubled: () => undefined };
const settled = (): Promise<void> => new Promise((done) => setImmediate(done));
const partitions = 4;
const open = () => createMemoryInbox({ clock: createVirtualClock(), partitions });
const putAll = async (inbox: ReturnType<typeof open>, name: string): Promise<void> => {
  for (let i = 0; i < 40; i++) await inbox.put({ key: bytes(`${name} ${i}`), value: bytes(name), headers: {} });
};
const placesOf = (records: readonly InboxRecord[]): string[] => records.map(({ source }) => `${source.partition}/${source.offset}`);
const partitionsOf = (records: readonly InboxRecord[]): Set<number> => new Set(records.map(({ source }) => source.partition));

describe("partitions of an inbox in memory", () => {
  it("are with one reader each, and with others when one comes or goes", async () => {
    const inbox = open();
    const [first, second]: [InboxRecord[], InboxRecord[]] = [[], []];
    const one = await inbox.read({ ...quiet, handle: async (records) => void first.push(...records) });
    await putAll(inbox, "alone");
    await settled();
    expect(partitionsOf(first).size).toBe(partitions);
    first.length = 0;
    await inbox.read({ ...quiet, handle: async (records) => void second.push(...records) });
    await putAll(inbox, "both");
    await settled();
    expect([...partitionsOf(first)].filter((partition) => partitionsOf(second).has(partition))).toEqual([]);
    expect(new Set(placesOf([...first, ...second])).size).toBe(40);
    expect(first.length + second.length).toBe(40);
    expect(Math.min(first.length, second.length)).toBeGreaterThan(0);
    await one.close();
    second.length = 0;
    await putAll(inbox, "left");
    await settled();
    expect([partitionsOf(second).size, second.length]).toEqual([partitions, 40]);
  });

  it("go on behind what a handler has done with, and only where its reader has the partition still", async () => {
    const inbox = createMemoryInbox({ clock: createVirtualClock() });
    const [slow, next] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const handed: string[] = [];
    const hold = (name: string, until: Promise<void>) => inbox.read({ ...quiet, handle: async (records) => {
      handed.push(`${name} ${placesOf(records).join(" ")}`);
      await until;
    } });
    const first = await hold("first", slow.promise);
    await inbox.put({ key: null, value: bytes("1"), headers: {} });
    await settled();
    expect([handed, inbox.committed()]).toEqual([["first 0/0"], [0]]);
    await first.close();
    await hold("second", next.promise);
    await settled();
    slow.resolve();
    await settled();
    expect([handed, inbox.committed()]).toEqual([["first 0/0", "second 0/0"], [0]]);
    next.resolve();
    await settled();
    expect([handed, inbox.committed()]).toEqual([["first 0/0", "second 0/0"], [1]]);
  });
});
