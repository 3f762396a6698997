/** Each rule left out is found out, by a shortest way; with the rule the same search finds nothing. */
import { expect, test } from "vitest";
import { leftOut } from "./left-out.ts";
import { search } from "./search/search.ts";

const worldsMax = 20_000;

test.each(leftOut)("without this rule a promise is seen to be broken: $rule", { timeout: 300_000 }, ({ configuration, breaks }) => {
  const found = search(configuration, { worldsMax });
  expect(found.breach).toMatch(breaks);
  expect(found.trace.length).toBeGreaterThan(0);
  const { without: _, ...kept } = configuration;
  expect(search(kept, { worldsMax: found.worlds + 200 })).toMatchObject({ breach: null, trace: [] });
});
