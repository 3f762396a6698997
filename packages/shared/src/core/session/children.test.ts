import { describe, expect, it } from "vitest";
import { type Story, begin, fails, goalOf, own, owed, passes, person, requested, scheduler, sha256, toReview } from "../../testing/index.ts";
import { goalDigest } from "./rules/submission.ts";
import { nextDerived } from "./derive.ts";
import { lookUp } from "./persistent-map.ts";

const childGoal = goalOf({ goal: "A part of it", id: "mine" as never });
const asksForChild = fails({ next_steps: [{ goal: childGoal }] });
const parent = (children = {}) => begin([...toReview({ bounds: { children: { depth: 1, width: 1, total: 2, ...children } } }), asksForChild]);
const closes = (story: Story, over: object = {}) => scheduler("child_closed", { child: story.state.owed ? ("none" as never) : (Object.keys(story.state.children).at(-1) as never), ...over });

describe("a next step that is a goal", () => {
  it("opens a child, and the parent waits for it", () => {
    const story = parent();
    expect(nextDerived(story.state)).toMatchObject({ type: "child_opened", data: { depth: 1, goalDigest: goalDigest(childGoal, { sha256 }) } });
    story.when(owed({ depth: 2 })).thenVoid("not_owed").given(owed()).repeat().thenVoid("not_owed");
    expect(story.status).toMatchObject({ disposition: "waiting", reason: "children", children: [{ open: true, disposition: null }] });
    expect(story.status.waitingOn).toMatchObject([{ kind: "child", id: Object.keys(story.state.children)[0] }]);
  });
  it("its end is the cause of the parent's next review, and what it spent counts", () => {
    const story = parent().given(owed());
    story.given(closes(story, { spent: { costUsd: 2, tokens: 10 } }));
    expect(story.state.owed?.content).toMatchObject({ cycle: "review", leaf: "goal", iteration: 1 });
    expect(story.status).toMatchObject({ children: [{ open: false, disposition: "done" }], budget: { costUsd: { spent: 2 }, tokens: { spent: 10 } } });
    story.given(owed(), passes(), owed());
  });
  it("closes once, and only a child that is there", () => {
    const story = parent().given(owed()).when(scheduler("child_closed", { child: "other" as never })).thenVoid("not_owed");
    story.given(closes(story)).when(scheduler("child_closed", { child: Object.keys(story.state.children)[0] as never })).thenVoid("not_owed");
  });
  it.each([["running", null], ["waiting", "approval"], ["failed", "incomplete_tool_turn"]] as const)("%s(%s) is no end for the parent", (disposition, reason) => {
    const story = parent().given(owed());
    story.when(closes(story, { disposition, reason })).thenVoid("not_owed");
  });
  it("waits while the parent is paused", () => {
    parent().given(person("pause_requested")).when(owed()).thenVoid("suspended").given(person("resumed"), owed());
  });
  it.each([["depth", { depth: 0 }], ["width", { width: 0 }], ["total", { total: 0 }]])("over the bound of %s it is refused with a typed record, and handed off", (bound, children) => {
    const story = parent(children);
    expect(nextDerived(story.state)).toMatchObject({ type: "child_refused", data: { bound, limit: 0 } });
    story.given(owed());
    expect(story.status).toMatchObject({ disposition: "handed_off", reason: "no_progress", error: `child refused: ${bound}` });
  });
  it("is not changed into a dispatch by a MODIFY of a checkpoint beside it", () => {
    const story = parent().given(person("checkpoint_requested"), requested());
    const [id = "none"] = story.state.pending;
    const { owed: before } = story.state;
    const digest = lookUp(story.state.checkpoints, id)?.digest as never;
    expect(story.given(person("approval_decided", { checkpoint: id, digest, decision: "MODIFY", action: { task: "smaller" } }, "boss")).state.owed).toEqual(before);
  });
  it("counts all that were ever opened", () => {
    const story = parent({ total: 1 }).given(owed());
    story.given(closes(story), owed(), fails({ next_steps: [{ goal: goalOf({ goal: "Another" }) }] }));
    expect(nextDerived(story.state)).toMatchObject({ type: "child_refused", data: { bound: "total" } });
  });
});

describe("what a child costs", () => {
  const policy = { approvals: [{ costUsd: 1 }] };
  it("counts towards the parent's cost threshold", () => {
    const story = begin(toReview({ goal: { policy } })).given(asksForChild, owed());
    story.given(closes(story, { spent: { costUsd: 2 } })).when(owed()).thenVoid("suspended");
    expect(nextDerived(story.state)).toMatchObject({ type: "approval_requested", data: { trigger: "cost" } });
  });
  it("a child is not opened while a person decides", () => {
    const story = begin(toReview({ goal: { policy } })).given(own("model", { usage: { costUsd: 2 } }), requested(), asksForChild).when(owed()).thenVoid("suspended");
    expect(story.state.owed?.what).toBe("child_opened");
  });
});
