/** What the search itself is built of. */
import { describe, expect, test } from "vitest";
import type { Configuration } from "./model/configuration.ts";
import { Model } from "./model/model.ts";
import { textOf } from "./model/world.ts";
import { digest53 } from "./search/digest.ts";
import { Edges } from "./search/edges.ts";
import { search } from "./search/search.ts";
import { twins } from "./configurations.ts";

const plain: Configuration = { name: "plain", processes: twins.slice(0, 1), calls: [], fences: true, iterations: 1, faults: {} };

describe("edges", () => {
  test("name the first world from which no goal can be reached, a dead end first", () => {
    const edges = new Edges();
    for (const [from, to] of [[0, 1], [1, 2], [0, 3], [3, 4], [4, 3], [0, 5]] as const) edges.add(from, to);
    expect(edges.firstWithout(6, [2])).toBe(5);
    expect(edges.firstWithout(6, [2, 5])).toBe(3);
    expect(edges.firstWithout(6, [2, 5, 4])).toBeNull();
  });
  test("hold more of them than fit into the first block", () => {
    const edges = new Edges();
    for (let world = 0; world < 100_000; world++) edges.add(world, world + 1);
    expect(edges.firstWithout(100_001, [100_000])).toBeNull();
  });
});

describe("digests", () => {
  test("differ for texts that differ in one place, and stay whole numbers", () => {
    const digests = Array.from({ length: 50_000 }, (_, index) => digest53(`12,7|${index % 7}|P0,${index},3`));
    expect(new Set(digests).size).toBe(digests.length);
    expect(digests.every((digest) => Number.isSafeInteger(digest) && digest >= 0)).toBe(true);
  });
});

describe("the search", () => {
  test("finds the same worlds again, in the same order", () => {
    expect(search(plain, { worldsMax: 10_000 })).toEqual(search(plain, { worldsMax: 10_000 }));
  });
  test("says that it was cut off where it was, and does not take what it has not seen for stuck", () => {
    expect(search(plain, { worldsMax: 5 })).toMatchObject({ isComplete: false, breach: null });
  });
  test("says so where no end can be reached: a question that nobody answers", () => {
    const found = search({ ...plain, goal: { policy: { failureFirst: false, approvals: [{ onPlanComplete: true }] } }, answers: [] }, { worldsMax: 10_000 });
    expect(found).toMatchObject({ breach: "no end can be reached any more", isComplete: true, overs: 0 });
  });
  test("gives a way that can be walked step by step", () => {
    const model = new Model({ ...plain, faults: { pause: 1 } });
    const texts = new Set([textOf(model.start)]);
    let world = model.start;
    for (let step = model.next(world)[0]; step && texts.size < 12; step = model.next(world)[0]) {
      world = step.world;
      texts.add(textOf(world));
    }
    expect(texts.size).toBeGreaterThan(5);
  });
});
