import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Link } from "./link.ts";
import { Topology } from "./topology.ts";

const clock = { now: () => 0, monotonic: () => 0, after: () => () => undefined };
let leader = 1;
let looks = 0;
let topology: Topology;

/** A connection to a broker that knows of two of them, and of one partition. */
function fakeLink(): Link {
  const link = {
    isOpen: true,
    drop: () => {
      link.isOpen = false;
    },
    request: async () => {
      looks += 1;
      const brokers = [1, 2].map((nodeId) => ({ nodeId, host: "broker", port: 9_000 + nodeId }));
      return { brokers, topicMetadata: [{ topicErrorCode: 0, partitionMetadata: [{ partitionErrorCode: 0, partitionId: 0, leader }] }] };
    },
  };
  return link as unknown as Link;
}

beforeEach(async () => {
  // From the beginning: a timer that is set at the first look counts too.
  vi.useFakeTimers();
  leader = 1;
  looks = 0;
  vi.spyOn(Link, "open").mockImplementation(async () => fakeLink());
  topology = new Topology({ connection: { brokers: ["broker:9001"] }, topic: "x.ledger", clock, isLedger: true });
  await topology.refresh();
});
afterEach(() => {
  topology.close();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe("the connections to brokers", () => {
  it("serve one purpose each: a reader's is none of a writer's, and ends without it", async () => {
    const [reads, appends] = [await topology.link(1, "reads"), await topology.link(1, "appends")];
    expect(reads).not.toBe(appends);
    expect(await topology.link(1, "reads")).toBe(reads);
    expect(await topology.link(2, "reads")).not.toBe(reads);
    topology.drop("reads", new Error("The reader is closed."));
    await vi.waitFor(() => expect(reads.isOpen).toBe(false));
    expect(appends.isOpen).toBe(true);
    expect(await topology.link(1, "appends")).toBe(appends);
    expect(await topology.link(1, "reads")).not.toBe(reads);
  });
});

describe("who leads", () => {
  it("is asked again when somebody says that it is wrong, and never because time has passed", async () => {
    expect([topology.leaderOf(0), looks]).toEqual([1, 1]);
    leader = 2;
    await vi.advanceTimersByTimeAsync(24 * 3_600_000);
    expect([topology.leaderOf(0), looks]).toEqual([1, 1]);
    await topology.refresh();
    expect([topology.leaderOf(0), looks]).toEqual([2, 2]);
  });
});
