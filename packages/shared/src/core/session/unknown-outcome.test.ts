import { describe, expect, it } from "vitest";
import { asks, begin, claim, own, owed, passes, person, reported, requested, toBuild, written } from "../../testing/index.ts";
import { nextDerived } from "./derive.ts";

const error = "external outcome unknown; reconciliation required";
const failed = (more: Parameters<typeof asks>[1] = {}) => begin([...toBuild(), asks("k", { contract: "unsafe", ...more }), claim("X")]);
const unanswered = () => begin([...toBuild(), asks("k", { contract: "lookup" }), claim("X"), own("status", { disposition: "failed", reason: "incomplete_tool_turn", error: "?" })]);

describe("failed(incomplete_tool_turn)", () => {
  it("is derived at the claim that finds an unsafe intent, with exactly this error", () => {
    const story = failed();
    expect(story.status).toMatchObject({ disposition: "failed", reason: "incomplete_tool_turn", error, active: null, effects: [{ key: "k", state: "unknown" }] });
    expect(story.status.waitingOn).toMatchObject([{ kind: "reconciliation", id: "k" }]);
    expect(nextDerived(story.state)).toMatchObject({ type: "status", data: { disposition: "failed", reason: "incomplete_tool_turn", error } });
  });
  it("is derived at the owner's own next claim too", () => {
    expect(begin([...toBuild(), asks("k", { contract: "unsafe" }), claim("W")]).status.reason).toBe("incomplete_tool_turn");
  });
  it("is derived at the owner's record that looking stayed without an answer, in an epoch higher than the intent's", () => {
    expect(unanswered().status).toMatchObject({ disposition: "failed", error });
    begin([...toBuild(), asks("k")]).when(own("status", { disposition: "failed", reason: "incomplete_tool_turn", error })).thenVoid("not_owed");
  });
  it("no claim and no owner record is accepted but what settles", () => {
    const story = failed().when(claim("Y")).thenVoid("after_end").when(own("built")).thenVoid("after_end").when(own("tool_result", { key: "k" })).thenVoid("after_end");
    story.when(own("tool_result", { key: "k" }, { epoch: 1 as never, ownerId: "W" as never, n: 2 })).thenVoid("stale_epoch");
  });
  it("settled by a person the same session goes on with no owner, the same dispatch open", () => {
    const story = failed();
    const dispatch = story.state.open?.eventId;
    story.given(reported(), person("reconciled", { key: "k" }));
    expect(story.status).toMatchObject({ disposition: "running", reason: null, error: null, owner: null, iteration: 1, endedAt: null });
    expect(story.state.open?.eventId).toBe(dispatch);
    story.given(claim("Y"), own("built"), owed(), passes(), owed());
    expect(story.status).toMatchObject({ disposition: "done", effects: [{ key: "k", state: "confirmed" }] });
  });
  it("did_not_happen needs the current epoch and a fence or the window, and lets the effect be asked again", () => {
    const story = failed({ fences: false }).when(person("reconciled", { key: "k", outcome: "did_not_happen" })).thenVoid("not_owed");
    story.wait(60_000).given(person("reconciled", { key: "k", outcome: "did_not_happen" }), claim("Y"), asks("k", { contract: "unsafe" }), own("tool_result", { key: "k" }), own("built"));
  });
  it("the current owner may settle a lookup effect, under its token", () => {
    unanswered().given(own("reconciled", { key: "k", outcome: "did_not_happen" }), claim("Y"));
    unanswered().when(own("reconciled", { key: "k" }, { n: 9 })).thenVoid("gap");
    failed().when(own("reconciled", { key: "k" })).thenVoid("after_end");
  });
  it("two unknown effects: settled one by one, and it goes on after the last", () => {
    const story = begin([...toBuild(), asks("a", { contract: "unsafe" }), asks("b", { contract: "unsafe" }), claim("X"), person("reconciled", { key: "a" })]);
    expect(story.status).toMatchObject({ disposition: "failed", waitingOn: [{ id: "b" }] });
    expect(story.given(person("reconciled", { key: "b" })).status.disposition).toBe("running");
  });
  it("the status of a first unknown does not stand for a second one", () => {
    const story = failed();
    const late = written(story, reported());
    story.given(person("reconciled", { key: "k", outcome: "did_not_happen" }), claim("Y"), asks("k", { contract: "unsafe" }), claim("Z"));
    expect(story.status.reason).toBe("incomplete_tool_turn");
    story.when(late).thenVoid("not_owed").given(reported());
  });
  it("takes a cancel, which takes effect when it is settled", () => {
    const story = failed().given(person("cancel_requested"));
    expect(story.status.reason).toBe("incomplete_tool_turn");
    expect(story.given(person("reconciled", { key: "k" })).status).toMatchObject({ disposition: "cancelled", reason: "cancelled" });
  });
  it("a checkpoint that was called for before is requested after it is settled", () => {
    const story = begin([...toBuild(), person("checkpoint_requested"), asks("k", { contract: "unsafe" }), claim("X")]).when(requested()).thenVoid("after_end");
    story.given(person("reconciled", { key: "k" }), requested());
  });
  it("takes a pause and its end, guidance and budget, and no checkpoint", () => {
    const story = failed().given(person("pause_requested"), person("guidance"), person("budget_raised")).when(person("checkpoint_requested")).thenVoid("after_end");
    story.given(person("resumed")).when(person("resumed")).thenVoid("not_owed");
  });
});
