import assert from "node:assert/strict";
import test from "node:test";
import { greeting } from "../src/greeting.mjs";

test("a greeting names who is greeted", () => {
  assert.equal(greeting("Ada"), "Hello, Ada!");
});
