/** What every feed of statuses owes: it gives back what was written, in order, and says how far it is complete. */
import type { Offset, SessionId } from "../../core/brand.ts";
import type { FeedRecord, FeedStep, StatusFeed } from "../../ports/index.ts";
import { inWorld, type Vitest, type World } from "./suite.ts";

export interface StatusFeedWorld extends World {
  readonly partitions: number;
  readonly ledgerId: string;
  /** Another process's handle. */
  open(ledgerId?: string): Promise<StatusFeed>;
  /** A record of somebody who knows nothing of this system. */
  writeOutside(sessionId: SessionId, document: string): Promise<void>;
  /** A document that is larger than the feed takes. */
  readonly tooLarge: string;
}
type Make = () => Promise<StatusFeedWorld>;

const id = (name: string): SessionId => name as SessionId;
const statuses = (...names: string[]): FeedStep["statuses"] => names.map((name) => ({ sessionId: id(name.slice(0, 1)), document: `{"name":"${name}"}` }));
const looked = new Map<number, number>();

export function statusFeedContract(vitest: Vitest, name: string, make: Make): void {
  vitest.describe(`status feed of ${name}`, () => {
    writing(vitest, make);
    claiming(vitest, make);
  });
}

async function all(feed: StatusFeed, partitions: number): Promise<FeedRecord[]> {
  const records: FeedRecord[] = [];
  await feed.read(new Map(Array.from({ length: partitions }, (_, partition) => [partition, 0])), (record) => records.push(record));
  return records;
}

function writing({ it, expect }: Vitest, make: Make): void {
  it("gives what was written back byte for byte, those of a session in order, to another process", inWorld(make, async (world) => {
    const [writer, reader] = [await world.open(), await world.open()];
    const document = '{"text":"später 😀","n":1.0}';
    await writer.write({ partition: 1, position: 7 as Offset, statuses: [...statuses("a1", "b1", "a2"), { sessionId: id("c"), document }] });
    const records = await all(reader, world.partitions);
    const of = (name: string): FeedRecord[] => records.filter(({ sessionId }) => sessionId === name);
    expect(of("a").map((one) => one.document)).toEqual(['{"name":"a1"}', '{"name":"a2"}']);
    expect(of("c").map((one) => one.document)).toEqual([document]);
    expect(records.map(({ position, claims }) => [position, claims])).toEqual(records.map(() => [{ partition: 1, offset: 7 }, false]));
    for (const name of ["a", "b", "c"]) expect(new Set(of(name).map(({ partition }) => partition)).size).toBe(1);
  }));

  it("is read on from where it ended, and from nowhere else", inWorld(make, async (world) => {
    const feed = await world.open();
    await feed.write({ partition: 0, position: 1 as Offset, statuses: statuses("a1", "b1", "c1") });
    const ends = await feed.read(new Map(), () => expect.unreachable("nothing was asked for"));
    expect([...ends.values()].reduce((sum, end) => sum + end, 0)).toBe(3);
    expect([...ends.keys()].sort((a, b) => a - b)).toEqual(Array.from({ length: world.partitions }, (_, partition) => partition));
    await feed.write({ partition: 0, position: 2 as Offset, statuses: statuses("a2") });
    const later: FeedRecord[] = [];
    const home = (await all(feed, world.partitions)).find(({ sessionId }) => sessionId === "a")?.partition ?? -1;
    const after = await feed.read(ends, (record) => later.push(record));
    expect(later).toMatchObject([{ document: '{"name":"a2"}', partition: home, offset: ends.get(home) }]);
    expect(after.get(home)).toBe((ends.get(home) ?? 0) + 1);
  }));

  it("shows what others wrote, and that they say nothing of this ledger", inWorld(make, async (world) => {
    const [feed, foreign] = [await world.open(), await world.open("another-ledger")];
    await foreign.write({ partition: 0, position: 9 as Offset, statuses: statuses("a1"), claim: { looked } });
    await world.writeOutside(id("b"), "rubbish");
    const records = await all(feed, world.partitions);
    expect(records.map(({ sessionId, document, position, claims }) => [sessionId, document, position, claims]).sort()).toEqual([
      ["a", '{"name":"a1"}', null, false], ["b", "rubbish", null, false],
    ]);
  }));

  it("leaves out a status that is larger than it takes, says so, and writes the others", inWorld(make, async (world) => {
    const feed = await world.open();
    const step = [...statuses("a1"), { sessionId: id("b"), document: world.tooLarge }, ...statuses("c1")];
    expect(await feed.write({ partition: 0, position: 1 as Offset, statuses: step })).toEqual(["b"]);
    expect((await all(feed, world.partitions)).map(({ sessionId }) => sessionId).sort()).toEqual(["a", "c"]);
  }));
}

function claiming({ it, expect }: Vitest, make: Make): void {
  it("claims nothing where nothing was claimed", inWorld(make, async (world) => {
    const feed = await world.open();
    expect(await feed.claims()).toEqual({ fed: new Map(), looked: new Map() });
    await feed.write({ partition: 0, position: 4 as Offset, statuses: statuses("a1") });
    expect(await feed.claims()).toEqual({ fed: new Map(), looked: new Map() });
  }));

  it("tells the furthest claim of each partition of the ledger, whatever was written after it", inWorld(make, async (world) => {
    const [writer, reader] = [await world.open(), await world.open()];
    await writer.write({ partition: 2, position: 40 as Offset, statuses: statuses("a1", "b1"), claim: { looked } });
    await writer.write({ partition: 2, position: 38 as Offset, statuses: statuses("b0"), claim: { looked } });
    await writer.write({ partition: 3, position: 6 as Offset, statuses: statuses("c1"), claim: { looked } });
    await writer.write({ partition: 3, position: 99 as Offset, statuses: statuses("c2") });
    await world.writeOutside(id("d"), "rubbish");
    expect((await reader.claims()).fed).toEqual(new Map([[2, 40], [3, 6]]));
    expect((await (await world.open("another-ledger")).claims()).fed).toEqual(new Map());
  }));

  it("marks the last record of a step alone as its claim", inWorld(make, async (world) => {
    const feed = await world.open();
    await feed.write({ partition: 0, position: 4 as Offset, statuses: statuses("a1", "a2", "a3"), claim: { looked } });
    expect((await all(feed, world.partitions)).map(({ document, claims }) => [document, claims])).toEqual([['{"name":"a1"}', false], ['{"name":"a2"}', false], ['{"name":"a3"}', true]]);
  }));

  it("tells up to where it was looked through", inWorld(make, async (world) => {
    const feed = await world.open();
    await feed.write({ partition: 0, position: 4 as Offset, statuses: statuses("a1", "a2") });
    const ends = await feed.read(new Map(), () => undefined);
    const home = (await all(feed, world.partitions))[0]?.partition ?? -1;
    await feed.write({ partition: 0, position: 5 as Offset, statuses: statuses("a3"), claim: { looked: ends } });
    expect((await feed.claims()).looked).toEqual(new Map([[home, 2]]));
  }));
}
