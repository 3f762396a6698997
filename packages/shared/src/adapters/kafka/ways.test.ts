/** When appends to one broker go out on two connections, and that a partition never has two requests under way for it. */
import { describe, expect, it } from "vitest";
import { createSystemClock } from "../system/clock.ts";
import { Appender } from "./appender.ts";
import { AppendLane } from "./append-lane.ts";
import { Shown } from "./reading.ts";
import type { Topology } from "./topology.ts";
import { Ways } from "./ways.ts";
import type { WireRecord } from "./wire.ts";

const kilobytes = 1 << 10;
const waitingLane = (partition: number, bytes: number): AppendLane => {
  const lane = new AppendLane(partition);
  lane.add({ records: [], bytes, addedAt: 0, done: () => undefined, failed: () => undefined });
  return lane;
};
const split = (ways: Ways, lanes: readonly AppendLane[]): readonly (readonly number[])[] => ways.shares(1, lanes).map(({ lanes: some }) => some.map(({ partition }) => partition));

/** Ways of a process that sits idle for so many ms in each large request, after so many of them. */
function after(requests: number, idleMs: number): Ways {
  let idle = 0;
  const ways = new Ways(() => idle);
  for (let i = 0; i < requests; i++) {
    const over = ways.begin(1, "appends");
    idle += idleMs;
    over(64 * kilobytes);
  }
  return ways;
}

describe("appends to one broker", () => {
  const much = (): readonly AppendLane[] => [waitingLane(0, 40 * kilobytes), waitingLane(1, 50 * kilobytes), waitingLane(2, 30 * kilobytes)];

  it("go out in one request while the process has something to do until the answer comes", () => {
    expect(split(after(50, 2.5), much())).toEqual([[0, 1, 2]]);
    expect(split(new Ways(() => 0), much())).toEqual([[0, 1, 2]]);
  });

  it("are shared out by weight where the process sits idle until the answers come", () => {
    expect(split(after(50, 5), much())).toEqual([[1], [0, 2]]);
  });

  it("stay together where they are little, or one partition's", () => {
    expect(split(after(50, 5), [waitingLane(0, 30 * kilobytes), waitingLane(1, 30 * kilobytes)])).toEqual([[0, 1]]);
    expect(split(after(50, 5), [waitingLane(3, 300 * kilobytes)])).toEqual([[3]]);
  });

  it("wait for a request that is under way where they are little, and go out beside it where they are much", () => {
    const ways = after(50, 5);
    const over = ways.begin(1, "appends");
    expect(split(ways, [waitingLane(0, 10 * kilobytes)])).toEqual([]);
    expect(ways.shares(1, much())).toMatchObject([{ way: "appends-2" }]);
    const overToo = ways.begin(1, "appends-2");
    expect(split(ways, much())).toEqual([]);
    overToo(0);
    over(0);
    expect(split(ways, much())).toHaveLength(2);
  });

  it("go on being shared out while that leaves less idle time, and no longer once there is none", () => {
    let idle = 0;
    const ways = new Ways(() => idle);
    const request = (idleMs: number): void => {
      const over = ways.begin(1, "appends");
      idle += idleMs;
      over(64 * kilobytes);
    };
    for (let i = 0; i < 50; i++) request(5);
    for (let i = 0; i < 50; i++) request(1.5);
    expect(split(ways, much())).toHaveLength(2);
    for (let i = 0; i < 50; i++) request(0);
    expect(split(ways, much())).toHaveLength(1);
  });

  it("small requests say nothing of that, and each broker stands for itself", () => {
    let idle = 0;
    const ways = new Ways(() => idle);
    for (const [node, bytes] of [[1, 100], [2, 64 * kilobytes]] as const) {
      for (let i = 0; i < 50; i++) {
        const over = ways.begin(node, "appends");
        idle += 10;
        over(bytes);
      }
    }
    expect(split(ways, much())).toHaveLength(1);
    expect(ways.shares(2, much())).toHaveLength(2);
  });
});

describe("an appender on two ways", () => {
  it("has at most one request under way for a partition, keeps the order of its records, and writes each once", async () => {
    const under = new Map<number, number>();
    const written = new Map<number, string[]>();
    const ends = new Map<number, number>();
    let most = 0;
    let clashes = 0;
    let idle = 0;
    const request = async (_api: string, args: { topicData: readonly { partitions: readonly { partition: number; messages: readonly WireRecord[] }[] }[] }) => {
      const parts = args.topicData[0]?.partitions ?? [];
      // What is thrown here the appender would take for a broker's trouble, and send again.
      for (const { partition } of parts) {
        if (under.get(partition) === 1) clashes += 1;
        under.set(partition, 1);
      }
      most = Math.max(most, [...under.values()].filter((one) => one === 1).length - parts.length);
      // The one on the first way is answered later than the one beside it.
      for (let turns = parts.length > 1 ? 4 : 1; turns > 0; turns--) await new Promise<void>((done) => setImmediate(done));
      idle += 10;
      return { topics: [{ topicName: "t", partitions: parts.map(({ partition, messages }) => {
        const baseOffset = ends.get(partition) ?? 0;
        ends.set(partition, baseOffset + messages.length);
        under.set(partition, 0);
        written.set(partition, [...(written.get(partition) ?? []), ...messages.map(({ value }) => String(value))]);
        return { partition, errorCode: 0, baseOffset };
      }) }] };
    };
    const topology = {
      topic: "t", isLedger: true, limits: { readMs: 10_000, writeMs: 10_000 },
      byLeader: (partitions: Iterable<number>) => new Map([[1, [...partitions]]]),
      link: async () => ({ request }), pause: () => new Promise<void>((done) => setImmediate(done)), refresh: async () => undefined,
    } as unknown as Topology;
    const appender = new Appender({
      topology, clock: createSystemClock(), shown: new Shown(), check: async () => undefined, lost: () => undefined, troubled: () => undefined, idle: () => idle,
    }, 3);
    const session = async (partition: number, name: string): Promise<void> => {
      for (let n = 0; n < 40; n++) await appender.add(partition, [{ key: name, value: `${name} ${n}`, headers: {} }], 20 * kilobytes);
    };
    await Promise.all([0, 1, 2].flatMap((partition) => ["a", "b", "c"].map((name) => session(partition, `${name}${partition}`))));
    expect(most).toBeGreaterThan(0);
    expect(clashes).toBe(0);
    for (const partition of [0, 1, 2]) {
      for (const name of ["a", "b", "c"]) {
        const own = written.get(partition)?.filter((value) => value.startsWith(name)) ?? [];
        expect(own).toEqual(Array.from({ length: 40 }, (_, n) => `${name}${partition} ${n}`));
      }
    }
  });
});
