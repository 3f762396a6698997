/** Goals that others have compressed: by the Java client, and by a broker whose topic is set to compress. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { prepareKafka } from "@loopledger/infra/kafka";
import { afterEach, describe, expect, test, vi } from "vitest";
import { Stage, goalText } from "./stage.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });

const codecs = ["gzip", "snappy", "lz4", "zstd"];
const run = promisify(execFile);
const count = 40;

let stage: Stage;
afterEach(() => stage.close());

describe("goals in every codec", () => {
  test("of the Java client come in", async () => {
    stage = await Stage.make({ partitions: 2 });
    // The program is run from its source, by the Java and with the libraries that the Kafka of the tests runs on.
    const { java, classpath } = await prepareKafka({ folder: stage.folder, nodes: [], variables: process.env, tell: () => undefined });
    const program = join(import.meta.dirname, "programs", "producer.java");
    for (const codec of codecs) {
      await run(java.path, ["-cp", classpath, program, stage.connection.brokers.join(","), `${stage.prefix}.goals`, codec, String(count)]);
    }
    await stage.intake();
    await stage.waitFor("all goals", async () => (await stage.sessions()).length === codecs.length * count);
    const ledger = await stage.ledger();
    for (const codec of codecs) {
      const texts = Array.from({ length: count }, (_, i) => ledger.goals(`${codec}-${i}`).map(({ text }) => text).join());
      expect(texts).toEqual(Array.from({ length: count }, (_, i) => `Goal ${i} über ${codec}`));
    }
    expect(await stage.letters()).toEqual([]);
  });

  test.each(codecs)("of a broker that compresses with %s come in", async (codec) => {
    stage = await Stage.make();
    await stage.setting("goals", "compression.type", codec);
    await stage.setting("dead-letters", "compression.type", codec);
    await stage.put({ key: "small", value: goalText() }, { key: "bad", value: "no goal" }, { key: "large", value: goalText({ inputs: { notes: "again and again ".repeat(10_000) } }) });
    await stage.intake();
    await stage.waitFor("both goals", async () => (await stage.sessions()).join() === "large,small");
    const letters = await stage.waitFor("the letter", async () => {
      const found = await stage.letters();
      return found.length > 0 ? found : null;
    });
    expect(letters.map(({ reason, value }) => [reason, Buffer.from(value ?? []).toString()])).toEqual([["not_json", "no goal"]]);
  });
});
