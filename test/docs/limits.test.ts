/** The promises, and what is not promised, stand in the README word for word. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const readme = readFileSync(join(import.meta.dirname, "../../README.md"), "utf8");
const limits = readme.slice(readme.indexOf("\n## Limits\n"), readme.indexOf("\n## More\n")).replace(/\s+/g, " ");

const sentences = [
  "Exactly one accepted result per cycle.",
  "No accepted stale write.",
  "`idempotent` effects once while the target keeps the key.",
  "`lookup` and `unsafe` effects at most once if the target fences on the look, or if no pause or network delay exceeds the call window.",
  "Nothing acknowledged is lost (as durable as the ledger's own setting).",
  "Status is always derivable.",
  "no log can stop a paused process, or a call still in flight, from performing an external effect after somebody looked.",
  "`did_not_happen` counts only after the look has fenced the target, or after the call window is over; a target with neither fence nor window is outside the promise.",
  "Effects outside the step protocol are not covered",
  "A fact that the sensor never saw cannot be replayed.",
  "Whoever may write the topic without keys may forge.",
  "There are no exactly-once effects, no general autonomy, and no learned improvement here.",
  "When not to use it: short in-process loops, truly serial uninterruptible work, latency-critical inner loops.",
];

describe("README, Limits", () => {
  it.each(sentences)("says: %s", (sentence) => {
    expect(limits).toContain(sentence);
  });
});
