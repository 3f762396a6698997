import assert from "node:assert/strict";
import { test } from "node:test";
import { initials, shout } from "../src/words.mjs";

test("shout is loud", () => {
  assert.equal(shout("hello"), "HELLO");
});

test("initials are the first letters", () => {
  assert.equal(initials("Ada Lovelace"), "AL");
});
