import { expect, test } from "vitest";
import type { LogTime, Offset } from "@loopledger/shared/core/brand";
import { dumpRow } from "../src/commands/ledger.ts";

const entry = (value: string) => ({ partition: 0, offset: 3 as Offset, time: 1 as LogTime, key: "a", value });

test("a record is shown as the JSON that it is, and one that is nested too deeply to be written out again as its text", () => {
  expect(dumpRow(entry('{"type":"goal_submitted","data":{}}'))).toMatchObject({ value: { type: "goal_submitted" }, headers: { type: "goal_submitted" } });
  const deep = `{"v":1,"data":${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}}`;
  const row = dumpRow(entry(deep));
  expect(row["value"]).toBe(deep);
  expect(JSON.parse(JSON.stringify(row))).toEqual({ partition: 0, offset: 3, time: 1, key: "a", headers: {}, value: deep, cursor: "0:3" });
});
