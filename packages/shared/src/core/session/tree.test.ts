import { describe, expect, it } from "vitest";
import { type Story, begin, claim, fails, goalOf, own, owed, passes, submit, toBuild } from "../../testing/index.ts";
import type { Leaf } from "../events/goal.ts";
import { checkOf, faultsOfPlan, makerOf, planOf } from "./plan.ts";

const calls = (story: Story) => story.state.owed?.content as { cycle: string; leaf: string; iteration: number; task: string };
const statuses = (story: Story) => Object.fromEntries(story.status.leaves.map((leaf) => [leaf.id, leaf.status]));
const treeOf = (leaves: Leaf[], more = {}) => begin([submit({ leaves, ...more }, { failureFirst: false })]);
const start = (story: Story) => story.given(owed(), claim("W"));
/** Build the leaf that is owed and let its check say so. */
const finish = (story: Story, verdict = passes()) => story.given(own("built"), owed(), verdict);

describe("the order of work", () => {
  it("leaves in tree order, one at a time, then the goal's own check", () => {
    const story = treeOf([{ id: "a", title: "First" }, { id: "b", title: "Second" }]);
    expect(calls(story)).toEqual({ cycle: "build", leaf: "a", iteration: 1, task: "First" });
    finish(start(story));
    expect(calls(story)).toEqual({ cycle: "build", leaf: "b", iteration: 2, task: "Second" });
    expect(statuses(story)).toEqual({ a: "verified", b: "open", goal: "open" });
    finish(story.given(owed()));
    expect(calls(story)).toMatchObject({ cycle: "review", leaf: "goal", iteration: 2 });
    story.given(owed(), passes(), owed());
    expect(story.status).toMatchObject({ disposition: "done", leaves: [{ passes: true }, { passes: true }, { passes: true }] });
  });
  it("the cause of the goal's check is the last leaf's check", () => {
    const story = finish(start(treeOf([{ id: "a", title: "A" }])));
    expect(story.state.owed?.cause).toBe(story.state.lastCheck?.eventId);
  });
  it("dependencies first", () => {
    const story = treeOf([{ id: "a", title: "A", after: ["b"] }, { id: "b", title: "B" }]);
    expect(calls(story).leaf).toBe("b");
    finish(start(story));
    expect(calls(story).leaf).toBe("a");
  });
  it("a failed leaf is reworked before the next one", () => {
    const story = finish(start(treeOf([{ id: "a", title: "A" }, { id: "b", title: "B" }])), fails({ next_steps: ["again"] }));
    expect(calls(story)).toEqual({ cycle: "build", leaf: "a", iteration: 2, task: "again" });
    expect(statuses(story)).toEqual({ a: "needs-rework", b: "open", goal: "open" });
  });
  it("a tree whose check fails first keeps the leaves' own titles as tasks", () => {
    const story = begin([submit({ leaves: [{ id: "a", title: "First" }] }), owed(), claim("W"), fails({ next_steps: ["other"] })]);
    expect(calls(story)).toMatchObject({ leaf: "a", task: "First", iteration: 1 });
    expect(story.state.leaves["goal"]?.task).toBe("Make the test pass");
  });
});

describe("inner nodes", () => {
  const nested: Leaf[] = [{ id: "p", title: "P", leaves: [{ id: "a", title: "A" }, { id: "b", title: "B" }] }, { id: "z", title: "Z", after: ["p"] }];
  it("without a check are verified with their children", () => {
    const story = finish(finish(start(treeOf(nested))).given(owed()));
    expect(statuses(story)).toMatchObject({ p: "verified", a: "verified", b: "verified", z: "open" });
    expect(calls(story).leaf).toBe("z");
  });
  it("with a check of their own are reviewed after their children, and built if that is red", () => {
    const story = finish(start(treeOf([{ id: "p", title: "P", check: "p-tests", leaves: [{ id: "a", title: "A" }] }])));
    expect(calls(story)).toMatchObject({ cycle: "review", leaf: "p" });
    story.given(owed()).when(passes()).thenVoid("forbidden").given(fails({ check: "p-tests", next_steps: ["join"] }));
    expect(calls(story)).toMatchObject({ cycle: "build", leaf: "p", task: "join" });
  });
});

describe("the goal's own check fails although every leaf was green", () => {
  const leaves: Leaf[] = [{ id: "a", title: "A", check: "a-tests" }, { id: "b", title: "B", check: "b-tests" }];
  const red = () => {
    const story = finish(start(treeOf(leaves)), passes({ check: "a-tests" })).given(owed());
    return finish(story, passes({ check: "b-tests" })).given(owed(), fails());
  };
  it("each leaf's check runs again now, and the leaves that fail are reworked", () => {
    const story = red();
    expect(statuses(story)).toEqual({ a: "unverified", b: "unverified", goal: "open" });
    expect(calls(story)).toMatchObject({ cycle: "review", leaf: "a" });
    story.given(owed(), passes({ check: "a-tests" }), owed(), fails({ check: "b-tests", next_steps: ["mend b"] }));
    expect(statuses(story)).toEqual({ a: "verified", b: "needs-rework", goal: "open" });
    expect(calls(story)).toEqual({ cycle: "build", leaf: "b", iteration: 3, task: "mend b" });
    finish(story.given(owed()), passes({ check: "b-tests" })).given(owed(), passes(), owed());
    expect(story.status.disposition).toBe("done");
  });
  it("where all leaves are green again, the goal itself is built", () => {
    const story = red().given(owed(), passes({ check: "a-tests" }), owed(), passes({ check: "b-tests" }), owed(), fails({ next_steps: ["join them"] }));
    expect(calls(story)).toEqual({ cycle: "build", leaf: "goal", iteration: 3, task: "join them" });
    finish(story.given(owed())).given(owed());
    expect(story.status.disposition).toBe("done");
  });
});

describe("the plan", () => {
  it("has children before their parents and the goal last; a leaf without a check uses the goal's", () => {
    const plan = planOf(goalOf({ leaves: [{ id: "p", title: "P", leaves: [{ id: "a", title: "A" }] }, { id: "b", title: "B", check: "own" }] }));
    expect(plan.map((node) => [node.id, node.check])).toEqual([["a", "tests"], ["p", null], ["b", "own"], ["goal", "tests"]]);
  });
  it("names what is wrong with a tree", () => {
    expect(faultsOfPlan(goalOf())).toEqual([]);
    expect(faultsOfPlan(goalOf({ leaves: [{ id: "goal", title: "A" }] }))).toEqual(['leaf id goal is used twice ("goal" is the goal itself)']);
    expect(faultsOfPlan(goalOf({ leaves: [{ id: "a", title: "A", after: ["z"] }] }))).toEqual(["leaf a comes after z, which is no leaf"]);
    expect(faultsOfPlan(goalOf({ leaves: [{ id: "a", title: "A", after: ["b"] }, { id: "b", title: "B", after: ["a"] }] }))).toEqual(["the leaves' `after` lists form a circle"]);
    expect(faultsOfPlan(goalOf({ leaves: [{ id: "p", title: "P", leaves: [{ id: "a", title: "A", after: ["p"] }] }] }))).toHaveLength(1);
  });
  it("names the maker by the leaf's kind", () => {
    const maker = { default: "plain", docs: "writer" };
    const { state } = treeOf([{ id: "a", title: "A", kind: "docs" }, { id: "b", title: "B", kind: "constructor" }], { maker });
    expect([makerOf(state, "a"), makerOf(state, "b"), makerOf(state, "goal"), checkOf(state, "a")]).toEqual(["writer", "plain", "plain", "tests"]);
    expect(makerOf(begin(toBuild()).state, "goal")).toBe("agent");
    expect(makerOf(treeOf([{ id: "a", title: "A" }], { maker: { docs: "writer" } }).state, "a")).toBeNull();
  });
  it("takes names of leaves that every object inherits for what they are", () => {
    const story = treeOf([{ id: "__proto__", title: "P" }, { id: "constructor", title: "C" }]);
    expect(calls(story).leaf).toBe("__proto__");
    finish(finish(start(story)).given(owed()));
    expect(statuses(story)).toMatchObject({ constructor: "verified", goal: "open" });
  });
});
