/** What others validate by accepts what is written here, and refuses what a reader here would not know. */
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { dataDefaults, goodMoves, makeMove, randomOf, recordOf, Story, submit, walkGoals } from "../../testing/index.ts";
import { eventTypes } from "../events/index.ts";
import { parseRecord } from "../events/parse.ts";
import { topicKindOf, topicKinds, topicSchema } from "./topic-schemas.ts";

type JsonSchema = Parameters<typeof z.fromJSONSchema>[0];
const validator = (kind: (typeof topicKinds)[number]): z.ZodType => z.fromJSONSchema(topicSchema(kind) as JsonSchema);
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** A session of many kinds of records, some of them refused. */
function walked(seed: number): Story {
  const random = randomOf(seed);
  const story = new Story().append(submit(random.pick(walkGoals)));
  for (let i = 0; i < 120; i++) makeMove(story, { name: random.pick(goodMoves), a: random.below(100), b: random.below(100) });
  return story;
}

describe("the schemas of the topics", () => {
  it("go by the last part of a topic's name", () => {
    expect(["loopledger.ledger", "a.b.goals", "status", "loopledger.dead-letters"].map(topicKindOf)).toEqual(["ledger", "goals", "status", null]);
  });

  it("are the same text every time, and name what they refer to by what it is", () => {
    for (const kind of topicKinds) {
      expect(topicSchema(kind)).toEqual(topicSchema(kind));
      expect(Object.keys((topicSchema(kind)["definitions"] as object | undefined) ?? {}).every((name) => ["json", "leaf"].includes(name))).toBe(true);
    }
  });

  it("have a branch for every record, closed, with its type as the title", () => {
    const branches = topicSchema("ledger")["oneOf"] as { title: string; additionalProperties: boolean }[];
    expect(branches.map(({ title }) => title)).toEqual(eventTypes);
    expect(branches.every((branch) => branch.additionalProperties === false)).toBe(true);
  });

  it("take a record of every type, and none with a field that no reader knows", () => {
    const ledger = validator("ledger");
    for (const type of eventTypes) {
      const record = plain(recordOf(type, dataDefaults[type]() as never)) as { data: object };
      expect(ledger.safeParse(record).success, type).toBe(true);
      expect(ledger.safeParse({ ...record, more: 1 }).success, type).toBe(false);
      expect(ledger.safeParse({ ...record, data: { ...record.data, more: 1 } }).success, type).toBe(false);
      expect(ledger.safeParse({ ...record, type: "later" }).success, type).toBe(false);
    }
  });

  it("take every record and every status of sessions that went their way", () => {
    const [ledger, status, goals] = [validator("ledger"), validator("status"), validator("goals")];
    for (let seed = 1; seed <= 12; seed++) {
      const story = walked(seed);
      const records = story.entries.flatMap(({ text }) => (parseRecord(text).kind === "record" ? [JSON.parse(text)] : []));
      expect(records.length).toBeGreaterThan(10);
      for (const record of records) expect(ledger.safeParse(record).error, JSON.stringify(record)).toBeUndefined();
      expect(status.safeParse(plain(story.status)).error).toBeUndefined();
      expect(status.safeParse({ ...(plain(story.status) as object), more: 1 }).success).toBe(false);
      expect(goals.safeParse(plain(records[0].data.goal)).error).toBeUndefined();
    }
  });
});
