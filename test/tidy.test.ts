import { resolve } from "node:path";
import { expect, test } from "vitest";
import { readSources } from "./house/sources.ts";
import { describeBreach, tidyBreaches } from "./house/tidy.ts";

const root = resolve(import.meta.dirname, "..");

test("the checkout keeps the house rules of sizes, names, words and waiting", () => {
  expect(tidyBreaches(root).map(describeBreach).join("\n")).toBe("");
});

test("the rules look at the code of every package and service", () => {
  const paths = readSources(root).map((source) => source.path);
  for (const folder of ["packages/shared/src/core/", "packages/shared/src/ports/", "test/", "scripts/"]) {
    expect(paths.some((path) => path.startsWith(folder)), folder).toBe(true);
  }
});
