/** Landmarks on Redis, and what a ledger on Kafka gains by them: it finds every record of a session, whoever has read the topic before. */
import { randomUUID } from "node:crypto";
import type { SessionId } from "@loopledger/shared/core/brand";
import type { Landmarks } from "@loopledger/shared/ports";
import { openRedisLandmarks } from "@loopledger/shared/redis";
import { createSystemClock } from "@loopledger/shared/system";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { redisUrl } from "../support/parts/parts.ts";
import { makeLedgerTopic } from "./kafka-topic.ts";
import { keysOf, removeKeys, sendTo, silent } from "./redis-outside.ts";

const clock = createSystemClock();
const url = await redisUrl();
let prefix: string;
const opened: { close(): Promise<void> }[] = [];
beforeEach(() => {
  prefix = `landmarks-${randomUUID()}`;
});
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
  await removeKeys(url, `${prefix}:*`);
});
const open = (at = url): Landmarks => {
  const landmarks = openRedisLandmarks({ url: at, prefix, clock, log: silent });
  opened.push(landmarks);
  return landmarks;
};

describe("landmarks on Redis", () => {
  it("are found by another handle as they were written, of each partition its own, and the last one stands", async () => {
    const [one, other] = [open(), open()];
    expect(await one.load(0)).toBeNull();
    await one.save(0, "first");
    await other.save(0, "second\nwith a second line");
    await other.save(11, "eleven");
    expect([await one.load(0), await one.load(11), await one.load(1)]).toEqual(["second\nwith a second line", "eleven", null]);
    expect(await keysOf(url, `${prefix}:*`)).toEqual([`${prefix}:landmarks:0`, `${prefix}:landmarks:11`]);
  });
  it("are as good as none where there is no Redis, where something else lies in their place, and after the end", async () => {
    const nowhere = open("redis://127.0.0.1:1");
    await nowhere.save(0, "x");
    expect(await nowhere.load(0)).toBeNull();
    const here = open();
    await sendTo(url, "RPUSH", `${prefix}:landmarks:0`, "a list");
    expect(await here.load(0)).toBeNull();
    await here.close();
    await here.save(1, "x");
    expect(await here.load(1)).toBeNull();
    expect(await keysOf(url, `${prefix}:*`)).toEqual([`${prefix}:landmarks:0`]);
  });
});

describe("a ledger on Kafka with landmarks", () => {
  it("leaves them when it is closed, and with them another one finds every record: of old sessions, of new ones, and of one that no landmark tells of", async () => {
    const topic = await makeLedgerTopic({ partitions: 1 });
    opened.push(topic);
    const first = await topic.open({ landmarks: open() });
    const batch = Array.from({ length: 500 }, (_, at) => `${at}`);
    const old = Array.from({ length: 45 }, (_, at) => `old-${at}` as SessionId);
    await Promise.all(old.map((id) => first.append(id, batch)));
    expect(await first.readSession("none" as SessionId)).toEqual([]);
    await first.close();
    const text = await open().load(0);
    expect(text).toContain('"covered":22501');

    const second = await topic.open({ landmarks: open() });
    const late = "late" as SessionId;
    await second.append(late, ["a", "b"]);
    await second.append(old[7] as SessionId, ["again"]);
    const plain = await topic.open();
    for (const id of [late, old[0] as SessionId, old[7] as SessionId, old[44] as SessionId, "nobody" as SessionId]) {
      expect(await second.readSession(id)).toEqual(await plain.readSession(id));
    }
    expect((await second.readSession(old[7] as SessionId)).length).toBe(501);
  }, 120_000);
});
