/** docs/guides/other-languages.md, run as it stands: goals from Java and Python become sessions, and their statuses are followed to the end. */
import { openTopicReader, type TopicRecord } from "@loopledger/shared/kafka";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { until } from "../support/until.ts";
import { blocks, fileOf, programs } from "./guide.ts";
import { runProgram } from "./languages.ts";
import { openStage, type Stage } from "./stage.ts";

vi.setConfig({ testTimeout: 400_000, hookTimeout: 400_000 });

/** Programs of the guide that a test of this file has run. */
const ran = new Set<string>();

async function runGuide(stage: Stage, file: string, ...words: string[]): Promise<string> {
  ran.add(file);
  const { code, out, err } = await stage.guide(file, ...words);
  if (code !== 0) throw new Error(`${file} ended with ${code}: ${err}\n${out}`);
  return out;
}
/** What a follower printed of a session: each `asOf`, and the last disposition. */
function followed(out: string, sessionId: string): { readonly seqs: readonly number[]; readonly disposition: string | undefined } {
  const rows = out.split("\n").map((line) => line.split(" ")).filter(([id]) => id === sessionId);
  return { seqs: rows.map(([, seq]) => Number(seq)), disposition: rows.at(-1)?.[2] };
}

let readers = 0;
/** The last record of a session on the status topic, once it tells of its end. */
async function lastStatus(stage: Stage, sessionId: string): Promise<TopicRecord> {
  const records: TopicRecord[] = [];
  readers += 1;
  const reader = await openTopicReader({
    connection: { brokers: (stage.variables["LOOPLEDGER_KAFKA_BROKERS"] ?? "").split(",") }, topic: `${stage.prefix}.status`, group: `${stage.prefix}.test-${readers}`,
    handle: async (some) => void records.push(...some.filter(({ key }) => Buffer.from(key ?? "").toString() === sessionId)), gap: () => undefined, log: () => undefined,
  });
  await until(() => records.some(({ value }) => Buffer.from(value ?? "").toString().includes('"disposition":"done"')), { what: "the session's last status", timeoutMs: 60_000 });
  await reader.close();
  return records.at(-1) as TopicRecord;
}

describe.each([{ form: "plain JSON", registry: false }, { form: "the registry's wire format", registry: true }])("with values in $form", ({ registry }) => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage({ registry });
  });
  afterAll(() => stage?.close());

  test("a goal from Java is carried, and its status followed in Java and Python to the same end", async () => {
    await runGuide(stage, "PutGoal.java", "from-java");
    const inJava = followed(await runGuide(stage, "FollowStatus.java", "from-java"), "from-java");
    const inPython = followed(await runGuide(stage, "follow_status.py", "from-java"), "from-java");
    expect(inJava.disposition).toBe("done");
    expect(inJava.seqs).toEqual(inJava.seqs.toSorted((a, b) => a - b));
    expect([inPython.disposition, inPython.seqs.at(-1)]).toEqual(["done", inJava.seqs.at(-1)]);
    const { code, out } = await stage.command("status", "from-java", "--json");
    expect([code, JSON.parse(out)]).toMatchObject([0, { disposition: "done", asOf: inJava.seqs.at(-1), labels: { team: "web" } }]);
  });

  test("a goal from Python, twice, is one session", async () => {
    await runGuide(stage, "put_goal.py", "from-python");
    await runGuide(stage, "put_goal.py", "from-python");
    expect(followed(await runGuide(stage, "follow_status.py", "from-python"), "from-python").disposition).toBe("done");
    const { out } = await stage.command("ls", "--json");
    expect(out.split("\n").filter((line) => line.includes('"from-python"')).length).toBe(1);
  });

  test("CloudEvents of both modes and a row of an outbox are goals too", async () => {
    await runGuide(stage, "put_event.py", "event-structured", "structured");
    await runGuide(stage, "put_event.py", "event-binary", "binary");
    await runGuide(stage, "put_row.py", "outbox-row");
    for (const id of ["event-structured", "event-binary", "outbox-row"]) {
      expect(followed(await runGuide(stage, "follow_status.py", id), id).disposition).toBe("done");
    }
    expect(await stage.command("dlq", "list", "--json")).toMatchObject({ code: 0, out: "" });
  });

  test("a status on the topic is the view in Redis and what the command prints, byte for byte, and says where it is from", async () => {
    await runGuide(stage, "put_goal.py", "in-redis");
    const script = blocks().find(({ language }) => language === "sh")?.text ?? "";
    const readRedis = async (): Promise<string[]> => {
      const { code, out, err } = await runProgram({ command: "sh", args: ["-c"] }, [script], { cwd: stage.shop.folder, variables: { ...stage.variables, SESSION: "in-redis" } });
      if (code !== 0) throw new Error(err);
      return out.trim().split("\n");
    };
    const { shown, record, text } = await until(async () => {
      const record = await lastStatus(stage, "in-redis");
      const text = Buffer.from(record.value ?? "").subarray(registry ? 5 : 0).toString("utf8");
      const shown = await readRedis();
      return shown[0] === text && shown.includes("in-redis") && { shown, record, text };
    }, { what: "topic and view to be the same", timeoutMs: 60_000 });
    expect(record.value?.[0]).toBe(registry ? 0 : "{".charCodeAt(0));
    const status = JSON.parse(text) as { readonly position: { readonly partition: number; readonly offset: number } };
    expect(JSON.parse((await stage.command("status", "in-redis", "--json")).out)).toEqual(status);
    const headers = Object.fromEntries(Object.entries(record.headers).map(([name, value]) => [name, Buffer.from(value).toString()]));
    expect(headers).toMatchObject({ type: "status", "ledger-id": expect.stringMatching(/./) });
    const { partition, offset } = status.position;
    expect(Number(headers["position"]?.split(":")[0])).toBe(partition);
    expect(Number(headers["position"]?.split(":")[1])).toBeGreaterThan(offset);
    const numbers = shown.filter((line) => /^\d+$/.test(line)).map(Number);
    const cursors = new Map(Array.from({ length: numbers.length / 2 }, (_, index) => [numbers[2 * index], numbers[2 * index + 1]]));
    expect(cursors.get(partition)).toBeGreaterThan(offset);
  });

  test("the records of a session are followed over HTTP to its end", async () => {
    await runGuide(stage, "put_goal.py", "over-http");
    await runGuide(stage, "follow_status.py", "over-http");
    const rows = (await runGuide(stage, "follow_events.py", "over-http")).trim().split("\n").map((line) => line.split(" "));
    expect(rows.map(([seq]) => Number(seq))).toEqual(rows.map((_, index) => index + 1));
    expect([rows[0]?.[1], rows.at(-1)?.[1]]).toEqual(["goal_submitted", "status"]);
  });
});

test("every program of the guide was run, and every other block is none", () => {
  expect([...ran].sort()).toEqual([...programs().keys()].sort());
  const others = blocks().filter((block) => fileOf(block) === null);
  expect(others.map(({ language }) => language)).toEqual(["json", "sh"]);
  expect(() => JSON.parse(others[0]?.text ?? "")).not.toThrow();
});
