import { createHash } from "node:crypto";
import type { Goal } from "@loopledger/shared/core/events/goal";
import { createPlainSchemas } from "@loopledger/shared/registry/plain";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nameOfKey } from "../src/envelopes.ts";
import { reasons } from "../src/reasons.ts";
import { readRecord } from "../src/record.ts";
import { textsOf } from "../src/texts.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const known = { sha256, missingHandlers: () => [] };
const goal: Goal = { goal: "Mend it – später 😀", maker: "m", check: "c" };
const text = JSON.stringify(goal);
const bytes = (part: string): Uint8Array => new TextEncoder().encode(part);

interface Given { readonly key?: string | Uint8Array | null; readonly value: string | Uint8Array | null; readonly headers?: Readonly<Record<string, string>> }
async function taken({ key = null, value, headers = {} }: Given, offset = 7) {
  const part = (one: string | Uint8Array | null): Uint8Array | null => (typeof one === "string" ? bytes(one) : one);
  const record = {
    source: { topic: "x.goals", partition: 2, offset }, key: part(key), value: part(value),
    headers: Object.fromEntries(Object.entries(headers).map(([name, content]) => [name, bytes(content)])),
  };
  const texts = await textsOf(record, undefined);
  // With and without a registry's reader the texts are the same.
  expect(await textsOf(record, createPlainSchemas())).toEqual(texts);
  return readRecord(texts, known);
}

const framed = (part: string): Uint8Array => Uint8Array.from([0, 0, 0, 0, 9, ...bytes(part)]);
const event = { specversion: "1.0", id: "e-1", source: "/orders", type: "goal", datacontenttype: "application/json" };
const eventHeaders = { ce_specversion: "1.0", ce_id: "e-1", ce_source: "/orders", ce_type: "goal", "content-type": "application/json" };
const wrapped = (payload: unknown) => ({ schema: { type: "string", optional: true }, payload });
const row = { id: "r-1", aggregatetype: "goal", aggregateid: "agg-1", type: "GoalMade", payload: text };
const change = (after: unknown, op = "c") => ({ before: null, after, source: { connector: "postgresql" }, op, ts_ms: 1 });

describe("a goal in any of its forms", () => {
  it.each<readonly [string, Given, string]>([
    ["plain, named by its key", { key: "k-1", value: text }, "k-1"],
    ["plain, named by its id", { value: JSON.stringify({ ...goal, id: "own" }) }, "own"],
    ["plain, named twice and alike", { key: "own", value: JSON.stringify({ ...goal, id: "own" }) }, "own"],
    ["plain, without a name", { value: text }, "x.goals-2-7"],
    ["behind a byte order mark", { key: "k-1", value: `\uFEFF${text}` }, "k-1"],
    ["indented, with spaces around it", { key: "k-1", value: `\n  ${JSON.stringify(goal, null, 2)}  \n` }, "k-1"],
    ["in the registry's wire format", { key: "k-1", value: framed(text) }, "k-1"],
    ["in the registry's wire format, its key too", { key: framed('"k-1"'), value: framed(text) }, "k-1"],
    ["with headers of a Java framework", { key: '"k-1"', value: text, headers: { __TypeId__: "com.example.Goal", id: '"65,66"', timestamp: "17" } }, "k-1"],
    ["a binary CloudEvent with a key", { key: "k-1", value: text, headers: eventHeaders }, "k-1"],
    ["a binary CloudEvent whose goal has an id", { value: JSON.stringify({ ...goal, id: "own" }), headers: eventHeaders }, "own"],
    ["a structured CloudEvent", { key: "k-1", value: JSON.stringify({ ...event, data: goal }), headers: { "content-type": "application/cloudevents+json; charset=UTF-8" } }, "k-1"],
    ["a structured CloudEvent without any header", { key: "k-1", value: JSON.stringify({ ...event, data: goal }) }, "k-1"],
    ["a structured CloudEvent with its data as text", { key: "k-1", value: JSON.stringify({ ...event, data: text }) }, "k-1"],
    ["a structured CloudEvent with its data in base64", { key: "k-1", value: JSON.stringify({ ...event, data_base64: Buffer.from(text).toString("base64") }) }, "k-1"],
    ["a CloudEvent in the registry's wire format", { key: "k-1", value: framed(JSON.stringify({ ...event, data: goal })) }, "k-1"],
    ["JSON inside a JSON string", { key: "k-1", value: JSON.stringify(text) }, "k-1"],
    ["an outbox event, routed and expanded", { key: "agg-1", value: text, headers: { id: "e-1", eventType: "GoalMade" } }, "agg-1"],
    ["an outbox event, routed, as text inside a string", { key: "agg-1", value: JSON.stringify(text), headers: { id: "e-1" } }, "agg-1"],
    ["an outbox event, routed, with schema and payload", { key: JSON.stringify(wrapped("agg-1")), value: JSON.stringify(wrapped(text)) }, "agg-1"],
    ["an outbox event, routed, with schema and an object", { key: "agg-1", value: JSON.stringify(wrapped(goal)) }, "agg-1"],
    ["an outbox event, routed, with fields beside its payload", { key: "agg-1", value: JSON.stringify({ payload: text, eventType: "GoalMade" }) }, "agg-1"],
    ["a row of an outbox table", { key: JSON.stringify({ id: "r-1" }), value: JSON.stringify(row) }, "agg-1"],
    ["a change of an outbox table", { key: JSON.stringify({ id: "r-1" }), value: JSON.stringify(change(row)) }, "agg-1"],
    ["a change of an outbox table with schemas", { key: JSON.stringify(wrapped({ id: "r-1" })), value: JSON.stringify(wrapped(change({ ...row, payload: goal }))) }, "agg-1"],
    ["a row that a connector reads at its start", { key: JSON.stringify({ id: "r-1" }), value: JSON.stringify(change(row, "r")) }, "agg-1"],
    ["an outbox row with a number as aggregate", { key: "1", value: JSON.stringify(change({ ...row, aggregateid: 41 })) }, "41"],
  ])("%s", async (_form, given, sessionId) => {
    expect(await taken(given)).toEqual({ sessionId, goal: sessionId === "own" ? { ...goal, id: "own" } : goal });
  });

  it("of the same event is the same session wherever it stands, in either mode", async () => {
    const one = await taken({ value: text, headers: eventHeaders }, 7);
    const again = await taken({ value: JSON.stringify({ ...event, data: goal }) }, 8);
    const other = await taken({ value: text, headers: { ...eventHeaders, ce_id: "e-2" } }, 9);
    expect(one).toMatchObject({ sessionId: expect.stringMatching(/^event-[0-9a-f]{24}$/) });
    expect(again).toEqual(one);
    expect(other).not.toEqual(one);
  });

  it("that was put back has the name that it would have had at first", async () => {
    expect(await taken({ value: text, headers: { "replay-of": "x.goals-0-3" } })).toMatchObject({ sessionId: "x.goals-0-3" });
  });

  it("without a name on a topic with a long one still has a name that a session may have", async () => {
    const texts = { position: `${"t".repeat(200)}-1-2`, key: null, value: { kind: "text", text } as const, bytes: 10, headers: {} };
    expect(readRecord(texts, known)).toMatchObject({ sessionId: expect.stringMatching(/^t{124}-1-2$/) });
  });
});

describe("what is no goal", () => {
  it.each<readonly [string, Given, string]>([
    ["a deleted outbox row", { value: JSON.stringify(change(null, "d")) }, "not_an_insert"],
    ["a changed outbox row", { value: JSON.stringify(change(row, "u")) }, "not_an_insert"],
    ["a payload that is null", { value: JSON.stringify(wrapped(null)) }, "null_value"],
    ["a text inside the record that is no JSON", { value: JSON.stringify(wrapped("Mend it")) }, "not_json"],
    ["an aggregate that is no session id", { value: JSON.stringify(change({ ...row, aggregateid: "a/b" })) }, "foreign_key"],
    ["an aggregate and another id", { value: JSON.stringify(change({ ...row, payload: { ...goal, id: "own" } })) }, "foreign_key"],
    ["a key that is an object", { key: '{"id":17}', value: text }, "foreign_key"],
    ["a goal with fields of envelopes around another goal", { value: JSON.stringify({ ...goal, ...event, data: { ...goal, goal: "Another" }, payload: text, op: "c", after: row }) }, "schema_violation"],
    ["a batch of events", { value: JSON.stringify([{ ...event, data: goal }]) }, "schema_violation"],
    ["envelopes without end", { value: Array.from({ length: 9 }).reduce<string>((inner) => JSON.stringify({ payload: inner }), text) }, "schema_violation"],
    ["headers written before the value", { value: `\xff\x01\x0bcontentType${text}` }, "not_json"],
  ])("%s", async (_what, given, reason) => {
    expect(await taken(given)).toMatchObject({ reason, detail: expect.stringMatching(/./) });
  });

  it("is told by a word of the list, whatever the bytes are, and never throws", async () => {
    const part = fc.option(fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.json().map(bytes), fc.string().map(bytes), fc.constant(bytes(text))), { nil: null });
    await fc.assert(fc.asyncProperty(part, part, fc.dictionary(fc.constantFrom("ce_id", "ce_source", "replay-of", "content-type"), fc.string()), async (key, value, headers) => {
      const answer = await taken({ key, value, headers });
      if ("reason" in answer) expect(Object.keys(reasons)).toContain(answer.reason);
      else expect(answer.sessionId).toMatch(/^[A-Za-z0-9._:-]{1,128}$/);
      expect(await taken({ key, value, headers })).toEqual(answer);
    }), { numRuns: 500 });
  });

  it("says no more of the record than a person needs, in whole characters", async () => {
    const answer = await taken({ value: JSON.stringify({ ...goal, ["😀".repeat(5_000)]: 1 }) });
    expect(answer).toMatchObject({ reason: "schema_violation" });
    expect("reason" in answer && answer.detail.length < 2_100 && answer.detail.isWellFormed()).toBe(true);
  });
});

describe("the name in a key", () => {
  it.each([
    [null, null], ["k", "k"], ['"k"', "k"], ["null", null], ['{"schema":null,"payload":null}', null], ['{"schema":{},"payload":"k"}', "k"], ['{"payload":17}', "17"],
    ['{"id":17}', '{"id":17}'], ['"unfinished', '"unfinished'], ["[1]", "[1]"],
  ])("of %s is %s", (key, name) => {
    expect(nameOfKey(key)).toBe(name);
  });
});
