/** Landmarks on Redis, and what a ledger on Kafka gains by them: it finds every record of a session, whoever has read the topic before. */
import { randomUUID } from "node:crypto";
import { landmarksContract } from "@loopledger/shared/contracts";
import type { SessionId } from "@loopledger/shared/core/brand";
import type { Landmarks } from "@loopledger/shared/ports";
import { openRedisLandmarks } from "@loopledger/shared/redis";
import { createSystemClock } from "@loopledger/shared/system";
import * as vitest from "vitest";
import { redisUrl } from "../support/parts/parts.ts";
import { until } from "../support/until.ts";
import { makeLedgerTopic } from "./kafka-topic.ts";
import { keysOf, removeKeys, sendTo, silent } from "./redis-outside.ts";

const { afterEach, beforeEach, describe, expect, it } = vitest;
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

landmarksContract(vitest, "redis", async () => {
  /** Nobody waits for a connection that takes long to be made: a handle is handed on once it has one. */
  const opening = async (): Promise<Landmarks> => {
    const landmarks = open();
    await until(async () => {
      await landmarks.save(999, "connected");
      return (await landmarks.load(999)) === "connected";
    }, { what: "a connection" });
    return landmarks;
  };
  return { open: opening, openUnreached: async () => open("redis://127.0.0.1:1"), forget: () => removeKeys(url, `${prefix}:*`), close: async () => undefined };
});

describe("the keys of landmarks on Redis", () => {
  it("lie under the prefix, a key for each partition", async () => {
    const landmarks = open();
    await landmarks.save(0, "first");
    await landmarks.save(11, "eleven");
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
