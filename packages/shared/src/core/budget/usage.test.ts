import { expect, test } from "vitest";
import { usage } from "../events/fields.ts";
import { addUsage } from "./usage.ts";

test("parts of a spend are one spend; what a later part says of model and reservation counts", () => {
  expect(addUsage({ costUsd: 1, tokensIn: 2, model: "a" }, { costUsd: 0.5, tokensOut: 3, model: "b", reservation: "r" })).toEqual({ costUsd: 1.5, tokensIn: 2, tokensOut: 3, model: "b", reservation: "r" });
  expect(addUsage({}, {})).toEqual({});
});
test("nonsense that was reported twice still fits into a record", () => {
  const nonsense = { costUsd: Number.MAX_VALUE, tokensIn: Number.MAX_SAFE_INTEGER, tokensOut: 1 };
  expect(usage.safeParse(addUsage(nonsense, nonsense)).success).toBe(true);
});
