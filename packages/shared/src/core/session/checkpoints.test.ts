import { describe, expect, it } from "vitest";
import { asks, begin, claim, digestOfText, fails, fired, own, owed, passes, person, requested, sha256, submit, toBuild, toReview, written } from "../../testing/index.ts";
import type { ApprovalTrigger } from "../events/goal.ts";
import type { Story } from "../../testing/index.ts";
import { nextDerived } from "./derive.ts";
import { lookUp } from "./persistent-map.ts";
import { digestOf as digest } from "../json.ts";

const digestOf = (value: unknown) => digest(value, sha256);

const policy = (...approvals: ApprovalTrigger[]) => ({ goal: { policy: { approvals } } });
const pending = (story: Story) => story.state.pending.map((id) => lookUp(story.state.checkpoints, id)?.trigger ?? "asked for");
const decide = (decision: "APPROVE" | "REJECT" | "RETRY" | "MODIFY" | "PAUSE", action?: object) => (story: Story) => {
  const id = story.state.pending.at(-1) ?? "none";
  const digest = lookUp(story.state.checkpoints, id)?.digest ?? digestOfText("none");
  return written(story, person("approval_decided", { checkpoint: id, decision, digest, ...(action === undefined ? {} : { action: action as never }) }, "boss"));
};

describe("a checkpoint of the policy", () => {
  it("is derived at the record that calls for it: no dispatch from there, before anybody has written the request", () => {
    const story = begin([...toReview(policy({ everyIterations: 1 })), fails()]);
    expect(story.status).toMatchObject({ disposition: "waiting", reason: "approval", waitingOn: [{ kind: "approval" }] });
    story.when(owed()).thenVoid("suspended");
    expect(nextDerived(story.state)).toMatchObject({ type: "approval_requested", data: { trigger: "every_iterations", action: { continue: true, iteration: 1 }, expires: null } });
    story.given(requested()).repeat().thenVoid("not_owed").when(owed()).thenVoid("suspended").given(decide("APPROVE"), owed());
    expect(story.status.iteration).toBe(2);
  });
  it("is requested with exactly the content that is owed", () => {
    begin([...toReview(policy({ everyIterations: 1 })), fails()]).when(requested({ expires: 5 })).thenVoid("not_owed").when(requested({ action: {} })).thenVoid("not_owed").given(requested());
  });
  it("every n iterations: after each n-th build, whatever made the next one owed, and not at 0", () => {
    expect(begin([submit(policy({ everyIterations: 1 }).goal)]).state.pending).toEqual([]);
    const two = policy({ everyIterations: 2 });
    const story = begin([...toReview(two), fails()]);
    expect(pending(story)).toEqual([]);
    expect(story.given(owed(), own("built"), owed(), fails()).state.pending).toHaveLength(1);
    expect(begin([...toBuild(policy({ everyIterations: 1 })), own("cycle_failed")]).state.pending).toHaveLength(1);
    const leaves = { leaves: [{ id: "a", title: "A" }, { id: "b", title: "B" }] };
    expect(begin([...toReview({ goal: { ...policy({ everyIterations: 1 }).goal, ...leaves } }), passes()]).state.pending).toHaveLength(1);
    expect(begin([...toReview({ goal: { ...policy({ everyIterations: 1 }).goal, leaves: [{ id: "a", title: "A" }] } }), passes()]).state.pending).toHaveLength(0);
  });
  it("on any failure, and on a major one only where the policy says so", () => {
    expect(begin([...toReview(policy({ onFailure: "any" })), fails()]).state.pending).toHaveLength(1);
    expect(begin([...toBuild(policy({ onFailure: "any" })), own("cycle_failed")]).state.pending).toHaveLength(1);
    expect(begin([...toReview(policy({ onFailure: "major" })), fails()]).state.pending).toHaveLength(0);
  });
  it("on a major failure a person decides instead of the hand-off, with a fresh window", () => {
    const story = begin([...toReview({ ...policy({ onFailure: "major" }), bounds: { breakerSame: 2 } }), fails(), owed(), own("built"), owed(), fails()]);
    expect(story.status).toMatchObject({ disposition: "waiting", reason: "approval" });
    expect(nextDerived(story.state)).toMatchObject({ data: { trigger: "on_failure", action: { retry: true, why: "no_progress" } } });
    story.given(requested(), decide("RETRY"), owed(), own("built"), owed(), fails());
    expect(story.status.disposition).toBe("running");
  });
  it("on plan complete: after the last PASS no receipt before the decision", () => {
    const story = begin([...toReview(policy({ onPlanComplete: true })), passes()]).when(owed()).thenVoid("suspended");
    story.given(requested()).when(owed()).thenVoid("suspended").given(decide("APPROVE"), owed());
    expect(story.status.disposition).toBe("done");
  });
  it("MODIFY of a completion goes on with the changed task, RETRY runs the check again", () => {
    const complete = () => begin([...toReview(policy({ onPlanComplete: true })), passes(), requested()]);
    const modified = complete().given(decide("MODIFY", { task: "and the docs" }));
    expect(modified.state.owed).toMatchObject({ what: "dispatched", content: { cycle: "build", iteration: 2, task: "and the docs" } });
    modified.given(owed(), own("built"), owed(), passes(), requested(), decide("APPROVE"), owed());
    const retried = complete().given(decide("RETRY"));
    expect(retried.state.owed).toMatchObject({ what: "dispatched", content: { cycle: "review", iteration: 1 } });
    retried.given(owed(), passes(), requested(), decide("APPROVE"), owed());
  });
  it("at a cost: once, when it is crossed, by whatever spends", () => {
    const spent = (costUsd: number) => own("model", { usage: { costUsd } });
    const story = begin([...toBuild(policy({ costUsd: 3 })), spent(2)]);
    expect(story.state.pending).toEqual([]);
    story.given(spent(1.5), spent(4), own("built"));
    expect(story.state.pending).toHaveLength(1);
    story.when(owed()).thenVoid("suspended").given(requested(), decide("APPROVE"), owed());
    expect(begin([...toBuild(policy({ costUsd: 3 })), own("built", { usage: { costUsd: 3 } })]).state.pending).toHaveLength(1);
    expect(begin([...toReview(policy({ costUsd: 3 })), own("check", { verdict: "FAIL", usage: { costUsd: 3 } })]).state.pending).toHaveLength(1);
  });
  it("at exactly that cost too, and not again for what is spent after it", () => {
    const story = begin([...toBuild(policy({ costUsd: 3 })), own("model", { usage: { costUsd: 3 } }), requested(), decide("APPROVE"), own("model", { usage: { costUsd: 1 } })]);
    expect(story.state.pending).toEqual([]);
  });
  it("two that the same record calls for are one", () => {
    const story = begin([...toReview(policy({ everyIterations: 1 }, { onFailure: "any" })), fails(), requested(), decide("APPROVE"), owed()]);
    expect(story.status.iteration).toBe(2);
  });
  it("lets the open cycle go on; a claim of it too", () => {
    begin([...toBuild(), person("checkpoint_requested"), requested(), own("model"), claim("X"), own("built")]).when(owed()).thenVoid("suspended");
  });
});

describe("a checkpoint from outside", () => {
  it("is one at a time", () => {
    const story = begin([submit(), person("checkpoint_requested")]).when(person("checkpoint_requested")).thenVoid("not_owed");
    story.given(requested()).when(person("checkpoint_requested")).thenVoid("not_owed").given(decide("APPROVE"), person("checkpoint_requested"));
  });
  it("keeps what is owed beside it", () => {
    const story = begin([submit(), person("checkpoint_requested")]);
    expect(story.state.owed?.what).toBe("dispatched");
    story.given(requested(), decide("APPROVE"), owed());
  });
  it.each([["nothing", null], ["a list", [1]], ["a text", "task"], ["a task that is no text", { task: 3 }]])("MODIFY to %s leaves what is owed as it is", (_name, action) => {
    const story = begin([...toReview(), fails(), person("checkpoint_requested"), requested()]);
    const { owed: before } = story.state;
    expect(story.given(decide("MODIFY", action as never)).state.owed).toEqual(before);
  });
  it("MODIFY of an open cycle has nothing owed to change", () => {
    begin([...toBuild(), person("checkpoint_requested"), requested(), decide("MODIFY", { task: "smaller" }), own("built"), owed()]);
  });
  it("MODIFY changes the task that is owed; a dispatch of the old one is void", () => {
    const story = begin([...toReview(), fails(), person("checkpoint_requested"), requested()]);
    const old = written(story, owed());
    story.given(decide("MODIFY", { task: "smaller" })).when(old).thenVoid("not_owed").given(owed());
    expect(story.status).toMatchObject({ task: "smaller", iteration: 2 });
  });
});

describe("a checkpoint before a protected tool", () => {
  const shown = { tool: "deploy", args: { to: "k" } };
  const protectedBuild = (more: object = {}) => begin(toBuild({ ...policy({ before: "deploy" }), ...more }));
  const ask = (over: object = {}) => (story: Story) => written(story, own("approval_requested", { checkpoint: "cp-1", trigger: "before", action: shown, digest: digestOf(shown), ...over }));
  const approve = (over: object = {}) => person("approval_decided", { checkpoint: "cp-1", decision: "APPROVE", digest: digestOf(shown), ...over }, "boss");
  it("no intent without its approval, one with it", () => {
    const story = protectedBuild().when(asks("k")).thenVoid("forbidden").given(ask()).when(asks("k", { approval: "cp-1" })).thenVoid("forbidden");
    story.given(approve(), asks("k", { approval: "cp-1" }), own("tool_result", { key: "k" }), own("built"));
  });
  it("what runs is what was approved: other arguments, another tool or a digest that is not theirs do not pass", () => {
    protectedBuild().given(ask(), approve()).when(asks("k", { args: { to: "elsewhere" }, approval: "cp-1" })).thenVoid("forbidden")
      .when(asks("k", { tool: "other", approval: "cp-1" })).thenVoid("forbidden")
      .when(asks("k", { args: { to: "elsewhere" }, argsDigest: digestOf({ to: "k" }), approval: "cp-1" })).thenVoid("malformed").given(asks("k", { approval: "cp-1" }));
  });
  it("an approval serves one key, and that key again where its target says that nothing happened", () => {
    const story = protectedBuild().given(ask(), approve(), asks("k", { approval: "cp-1" }), own("tool_result", { key: "k", outcome: "failed" }));
    story.when(asks("other", { args: { to: "k" }, approval: "cp-1" })).thenVoid("forbidden").given(asks("k", { approval: "cp-1" }));
  });
  it("MODIFY lets the changed action through, and only that", () => {
    const story = protectedBuild().given(ask(), approve({ decision: "MODIFY", action: { tool: "deploy", args: { to: "staging" } } }));
    story.when(asks("k", { approval: "cp-1" })).thenVoid("forbidden").given(asks("s", { args: { to: "staging" }, approval: "cp-1" }));
  });
  it("RETRY lets nothing through and goes on", () => {
    const story = protectedBuild().given(ask(), approve({ decision: "RETRY" })).when(asks("k", { approval: "cp-1" })).thenVoid("forbidden");
    expect(story.status.disposition).toBe("running");
  });
  it("an expired one lets nothing through", () => {
    protectedBuild().given(ask({ expires: 1 })).wait(2000).given(fired("approval"), person("resumed"), owed(), claim("X")).when(asks("k", { iteration: 2, approval: "cp-1" })).thenVoid("forbidden");
  });
  it("also a tool that names an approval although the policy asks for none needs it", () => {
    begin(toBuild()).when(asks("k", { approval: "cp-9" })).thenVoid("forbidden").given(asks("k"));
  });
});
