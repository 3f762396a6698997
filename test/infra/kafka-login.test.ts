/** A Kafka that asks who comes: with the right password everything works as without one, with a wrong one it is said what to mend. */
import type { Offset, SessionId } from "@loopledger/shared/core/brand";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type Ended, Workshop, patienceMs } from "../cli/workshop.ts";
import { makeLedgerTopic } from "../contract/kafka-topic.ts";
import { ownKafka, type OwnKafka, redisUrl, uniquePrefix } from "../support/parts/parts.ts";

vi.setConfig({ testTimeout: 2 * patienceMs, hookTimeout: 5 * 60_000 });

const right = "Gq7vT2mXw9";
const wrong = "Gq7vT2mXw8";
let kafka: OwnKafka;
let shop: Workshop;
let prefix: string;
beforeAll(async () => {
  kafka = await ownKafka({ login: { username: "olga", password: right } });
});
afterAll(() => kafka.stop());
beforeEach(() => {
  shop = new Workshop();
  prefix = uniquePrefix("login");
});
afterEach(() => shop.close());

/** The command as its user starts it, whose client says everything that it can say. */
async function command(words: readonly string[], { mechanism, password }: { readonly mechanism: string; readonly password: string }): Promise<Ended> {
  return shop.start(words, {
    LOOPLEDGER_KAFKA_BROKERS: kafka.loginBrokers, LOOPLEDGER_REDIS_URL: await redisUrl(), LOOPLEDGER_TOPIC_PREFIX: prefix, LOOPLEDGER_LOG_LEVEL: "debug",
    LOOPLEDGER_KAFKA_SASL_MECHANISM: mechanism, LOOPLEDGER_KAFKA_SASL_USERNAME: "olga", LOOPLEDGER_KAFKA_SASL_PASSWORD: password,
  }).ended;
}

describe.each(["plain", "scram-sha-256"])("a Kafka that asks for a password, by %s", (mechanism) => {
  test("with the right one, topics are made and a session is carried to its end", async () => {
    const login = { mechanism, password: right };
    const made = await command(["topics", "apply"], login);
    expect(made).toMatchObject({ code: 0 });
    const ran = await command(["run", "make it", "--maker", "touch made", "--check", "test -e made", "--id", "one"], login);
    expect(ran).toMatchObject({ code: 0 });
    const status = await command(["status", "one", "--json"], login);
    expect(JSON.parse(status.out)).toMatchObject({ sessionId: "one", disposition: "done" });
    for (const { out, err } of [made, ran, status]) expect(out + err).not.toContain(right);
  });

  test("with a wrong one, every command says so with 7 and what to mend, and no line has the password", async () => {
    const login = { mechanism, password: wrong };
    for (const words of [["topics", "apply"], ["run", "make it", "--maker", "true", "--check", "true"], ["ls"]]) {
      const { code, out, err } = await command(words, login);
      expect({ code, out }, words.join(" ")).toEqual({ code: 7, out: "" });
      expect(err, words.join(" ")).toMatch(/^loopledger: .*authentication failed.*\n {2}The broker answers and refuses the login: mend LOOPLEDGER_KAFKA_SASL_USERNAME, LOOPLEDGER_KAFKA_SASL_PASSWORD/im);
      expect(err, words.join(" ")).not.toContain(wrong);
    }
    const looked = await command(["doctor", "--json"], login);
    const { checks } = JSON.parse(looked.out) as { readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly fix: string | null }[] };
    expect(checks.find(({ name }) => name === "kafka")).toMatchObject({ ok: false, fix: expect.stringContaining("LOOPLEDGER_KAFKA_SASL_PASSWORD") });
    expect(looked.out + looked.err).not.toContain(wrong);
  });
});

describe.each(["plain", "scram-sha-256"] as const)("a Kafka whose logins last five seconds, by %s", (mechanism) => {
  test("takes appends and reads through several of them, without an outage", async () => {
    const shortly = await ownKafka({ login: { username: "olga", password: right, lastsMs: 5_000 } });
    try {
      const topic = await makeLedgerTopic({ brokers: shortly.brokers });
      const connection = { brokers: shortly.loginBrokers.split(","), sasl: { mechanism, username: "olga", password: right } };
      const told: unknown[] = [];
      const ledger = await topic.open({ connection, log: (error) => void told.push(error) });
      const seen: (string | null)[] = [];
      const subscription = await ledger.subscribe(new Map([[ledger.partitionOf("s"), 0 as Offset]]), (entries) => void seen.push(...entries.filter(({ key }) => key === "s").map(({ value }) => value)));
      const written: string[] = [];
      for (const until = performance.now() + 12_000; performance.now() < until; ) {
        written.push(String(written.length));
        await ledger.append("s" as SessionId, [written.at(-1) ?? ""]);
        if (written.length % 20 === 0) await Promise.all([ledger.readSession("s" as SessionId), ledger.end()]);
      }
      await subscription.caughtUp();
      expect(seen).toEqual(written);
      expect(told).toEqual([]);
      await topic.close();
    } finally {
      await shortly.stop();
    }
  });
});
