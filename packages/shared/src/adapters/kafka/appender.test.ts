/** How answers to sends are read, with a broker that answers by script. */
import { createSystemClock } from "../system/clock.ts";
import { describe, expect, it } from "vitest";
import { Appender } from "./appender.ts";
import type { LoopledgerError } from "../../core/errors.ts";
import { unreachable } from "./patience.ts";
import { Shown } from "./reading.ts";
import type { Topology } from "./topology.ts";
import type { ProducedPart, WireRecord } from "./wire.ts";

interface Sent {
  readonly node: number;
  /** Values by partition. */
  readonly parts: ReadonlyMap<number, readonly string[]>;
}
type Answer = (sent: Sent) => readonly Partial<ProducedPart>[] | Error;

const record = (value: string): WireRecord => ({ key: "k", value, headers: {} });
const all = (sent: Sent): readonly Partial<ProducedPart>[] => [...sent.parts.keys()].map((partition) => ({ partition, errorCode: 0 }));

/** Four partitions on two nodes; answers come from the script, then everything is taken. */
function scripted(script: readonly Answer[], { idle, writeMs = 10_000 }: { readonly idle?: () => number; readonly writeMs?: number } = {}) {
  const sends: Sent[] = [];
  const answers = [...script];
  const ends = new Map<number, number>();
  const request = async (node: number, args: { topicData: readonly { partitions: readonly { partition: number; messages: readonly WireRecord[] }[] }[] }) => {
    const partitions = args.topicData[0]?.partitions ?? [];
    const sent = { node, parts: new Map(partitions.map(({ partition, messages }) => [partition, messages.map(({ value }) => String(value))])) };
    sends.push(sent);
    const parts = (answers.shift() ?? all)(sent);
    if (parts instanceof Error) throw parts;
    return { topics: [{ topicName: "t", partitions: parts.map((part) => {
      const baseOffset = ends.get(part.partition ?? 0) ?? 0;
      ends.set(part.partition ?? 0, baseOffset + (sent.parts.get(part.partition ?? 0)?.length ?? 0));
      return { baseOffset: String(baseOffset), ...part };
    }) }] };
  };
  const topology = {
    topic: "t", isLedger: true, connection: { ssl: null }, limits: { readMs: 10_000, writeMs },
    byLeader: (partitions: Iterable<number>) => Map.groupBy(partitions, (partition) => (partition < 2 ? 1 : 2)),
    link: async (node: number) => ({ request: async (_api: string, args: Parameters<typeof request>[1]) => request(node, args) }),
    pause: () => new Promise<void>((done) => setImmediate(done)),
    refresh: async () => undefined,
  } as unknown as Topology;
  const lost: unknown[] = [];
  const told: LoopledgerError[] = [];
  const shown = new Shown();
  const appender = new Appender({
    topology, clock: createSystemClock(), shown, check: async () => undefined, lost: (error) => void lost.push(error), troubled: (error) => void told.push(unreachable(topology, error)), ...(idle && { idle }),
  }, 4);
  return { appender, sends, lost, told, shown };
}

describe("sends to Kafka", () => {
  it("are not done where the answer leaves their partition out; that part alone is sent again, with the same records", async () => {
    const { appender, sends } = scripted([({ parts }) => [...parts.keys()].filter((partition) => partition === 0).map((partition) => ({ partition, errorCode: 0 }))]);
    const done: number[] = [];
    const add = (partition: number, value: string): Promise<number> => appender.add(partition, [record(value)], 100).then(() => done.push(partition));
    await Promise.all([add(0, "a"), add(1, "b")]);
    expect(sends.map(({ parts }) => [...parts])).toEqual([[[0, ["a"]], [1, ["b"]]], [[1, ["b"]]]]);
    expect(done).toEqual([0, 1]);
  });

  it("keep each partition's own answer: one that failed neither fails nor holds up its neighbours", async () => {
    const { appender, sends } = scripted([({ parts }) => [...parts.keys()].map((partition) => ({ partition, errorCode: partition === 1 ? 6 : 0 }))]);
    await Promise.all([appender.add(0, [record("a")], 100), appender.add(1, [record("b")], 100), appender.add(3, [record("c")], 100)]);
    expect(sends.filter(({ node }) => node === 1).map(({ parts }) => [...parts])).toEqual([[[0, ["a"]], [1, ["b"]]], [[1, ["b"]]]]);
    expect(sends.filter(({ node }) => node === 2)).toHaveLength(1);
  });

  it("go out together while one is under way, one at a time for each partition, in the order of the calls", async () => {
    const { appender, sends } = scripted([]);
    const first = appender.add(0, [record("1")], 100);
    await new Promise<void>((done) => setImmediate(() => setImmediate(done)));
    await Promise.all([first, ...["2", "3", "4"].map((value) => appender.add(0, [record(value)], 100))]);
    expect(sends.map(({ parts }) => parts.get(0))).toEqual([["1"], ["2", "3", "4"]]);
  });

  it("hold to the same bytes when repeated, though more has come to wait meanwhile", async () => {
    let meanwhile: Promise<void> | null = null;
    const { appender, sends } = scripted([() => {
      meanwhile = appender.add(0, [record("3")], 100);
      return new Error("The connection was closed.");
    }]);
    await appender.add(0, [record("1"), record("2")], 100);
    await meanwhile;
    expect(sends.map(({ parts }) => parts.get(0))).toEqual([["1", "2"], ["1", "2"], ["3"]]);
  });

  it("single out the append that the broker refuses, and write its neighbours", async () => {
    const tooLarge: Answer = ({ parts }) => [{ partition: 0, errorCode: parts.get(0)?.includes("huge") ? 10 : 0 }];
    const { appender } = scripted(Array.from({ length: 4 }, () => tooLarge));
    const results = await Promise.allSettled(["a", "huge", "b"].map((value) => appender.add(0, [record(value)], 100)));
    expect(results.map((result) => (result.status === "rejected" ? result.reason.code : "written"))).toEqual(["written", "batch_too_large", "written"]);
  });

  it("F34 tell an outage once, however many tries it takes, and once more where a broker says what mends it; the next outage is told anew", async () => {
    const away: Answer = () => new Error("away");
    const short: Answer = () => [{ partition: 0, errorCode: 19 }];
    const { appender, told } = scripted([away, away, away, short, short, away, all, away, away]);
    await appender.add(0, [record("a")], 100);
    expect(told).toMatchObject([
      { message: expect.stringContaining("away"), next: expect.not.stringContaining("min.insync.replicas") },
      { message: expect.stringContaining("partition 0 of t: NOT_ENOUGH_REPLICAS"), next: expect.stringContaining("min.insync.replicas") },
    ]);
    await appender.add(0, [record("b")], 100);
    expect(told.slice(2)).toMatchObject([{ message: expect.stringContaining("away") }]);
  });

  it("F34 say to their caller what mends it where it does not pass in time", async () => {
    const { appender } = scripted(Array.from({ length: 9 }, (): Answer => () => [{ partition: 0, errorCode: 20 }]), { writeMs: -1 });
    await expect(appender.add(0, [record("a")], 100)).rejects.toMatchObject({ code: "ledger_unreachable", next: expect.stringContaining("min.insync.replicas") });
  });

  it("find the ledger lost where records went before what had been read", async () => {
    const { appender, lost, shown } = scripted([]);
    shown.note(0, 7);
    await expect(appender.add(0, [record("a")], 100)).rejects.toMatchObject({ code: "ledger_lost" });
    expect(lost).toMatchObject([{ code: "ledger_lost" }]);
  });
});
