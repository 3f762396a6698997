import { describe, expect, it } from "vitest";
import { recordOf } from "../../testing/index.ts";
import { catalogue, eventTypes } from "./index.ts";
import { nestingMax, parseRecord, readRecord, recordTextMax } from "./parse.ts";

const good = () => JSON.parse(JSON.stringify(recordOf("guidance"))) as Record<string, unknown>;
const withData = (data: unknown) => ({ ...good(), data });
const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
const check = (evidence: string): string =>
  JSON.stringify(recordOf("check", { evidence: "@" })).replace('"@"', evidence);

describe("a record of every type", () => {
  it.each(eventTypes)("%s goes through text and comes back as it was", (type) => {
    const record = recordOf(type);
    const text = JSON.stringify(record);
    expect(parseRecord(text)).toEqual({ kind: "record", record: JSON.parse(text) });
  });

  it("has a writer and says who may be its author", () => {
    for (const type of eventTypes) {
      expect(catalogue[type].type).toBe(type);
      expect(catalogue[type].writers.length, type).toBeGreaterThan(0);
      expect(catalogue[type].authorship.length, type).toBeGreaterThan(0);
      expect(catalogue[type].lifts.length, type).toBe(catalogue[type].versions.length - 1);
    }
  });
});

describe("what this release does not know holds and never voids", () => {
  it.each([
    ["an unknown type", { ...good(), type: "teleported" }],
    ["a later version of a known type", { ...good(), typeVersion: 2 }],
    ["a field that the envelope does not have", { ...good(), priority: 1 }],
    ["a field that the data does not have", withData({ text: "look", urgency: "high" })],
    ["a later envelope", { v: 2, type: "guidance", sessionId: "s", all: "else differs" }],
    ["a name that every object inherits as a type", { ...good(), type: "constructor" }],
  ])("%s", (_name, value) => {
    expect(readRecord(value).kind).toBe("unknown");
  });

  it("an unknown field inside one branch of a union", () => {
    const goal = { goal: "g", maker: "m", check: "c", policy: { approvals: [{ before: "deploy", quorum: 2 }] } };
    const record = JSON.parse(JSON.stringify(recordOf("goal_submitted"))) as { data: Record<string, unknown> };
    expect(readRecord({ ...record, data: { ...record.data, goal } }).kind).toBe("unknown");
  });
});

describe("what is no record is malformed", () => {
  it.each([
    ["an array", []],
    ["a number", 3],
    ["an object of another kind", { hello: "world" }],
    ["a missing field", withData({})],
    ["a field of another type", withData({ text: 3 })],
    ["an empty id", { ...good(), eventId: "" }],
    ["an id with half a character", { ...good(), eventId: "a\ud800" }],
    ["an id with NUL", { ...good(), eventId: "a\u0000b" }],
    ["a text with half a character", withData({ text: "\udc00" })],
    ["epoch zero", { ...good(), epoch: 0 }],
    ["an epoch that is no whole number", { ...good(), epoch: 1.5 }],
    ["version zero of a type", { ...good(), typeVersion: 0 }],
    ["a writer of an unknown kind", { ...good(), actor: { kind: "god", id: "x" } }],
  ])("%s", (_name, value) => {
    expect(readRecord(value).kind).toBe("malformed");
  });

  it.each([["no value", null], ["no JSON", "{"], ["nothing", ""], ["JSON null", "null"]])("%s", (_name, text) => {
    expect(parseRecord(text).kind).toBe("malformed");
  });

  it("a text longer than the limit, before it is parsed", () => {
    expect(parseRecord(`"${"a".repeat(recordTextMax)}"`)).toEqual({ kind: "malformed", detail: `longer than ${recordTextMax} characters` });
  });
});

describe("nesting", () => {
  it("is read up to the limit and malformed beyond it, whatever the stack of the reader", () => {
    expect(parseRecord(check(nested(nestingMax - 2))).kind).toBe("record");
    expect(parseRecord(check(nested(nestingMax - 1))).kind).toBe("malformed");
    expect(parseRecord(check(nested(200_000))).kind).toBe("malformed");
    expect(parseRecord(`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`).kind).toBe("malformed");
  });
});
