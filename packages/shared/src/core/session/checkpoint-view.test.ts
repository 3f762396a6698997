import { describe, expect, test } from "vitest";
import { type Act, type Story, actionOf, begin, fired, own, owed, person, requested, sha256, submit, toBuild } from "../../testing/index.ts";
import type { LogTime } from "../brand.ts";
import { checkpointView, checkpointViews, reviewRequest } from "./checkpoint-view.ts";

const looking = (story: Story, aheadMs = 0) => ({ now: (story.clock.now() + aheadMs) as LogTime, sha256 });
const asksFor = (args: { readonly [key: string]: string }, expires: number | null = null): Act =>
  own("approval_requested", { checkpoint: "cp-1", trigger: "before", expires, ...actionOf("deploy", args) });

describe("a checkpoint", () => {
  test("shows the action as it was proposed, with the digest that an answer is bound to", () => {
    const story = begin([...toBuild(), asksFor({ to: "production" })]);
    expect(checkpointView(story.state, "cp-1", looking(story))).toMatchObject({
      standing: "pending", action: { tool: "deploy", args: { to: "production" } }, digest: actionOf("deploy", { to: "production" }).digest, expires: null,
    });
  });
  test("reads as expired from its time on, before and after the record that says so", () => {
    const story = begin([...toBuild(), asksFor({ to: "production" }, 5)]);
    expect(checkpointView(story.state, "cp-1", looking(story))?.standing).toBe("pending");
    expect(checkpointView(story.state, "cp-1", looking(story, 6_000))?.standing).toBe("expired");
    story.wait(6_000).given(fired("approval"));
    expect(checkpointView(story.state, "cp-1", looking(story))).toMatchObject({ standing: "expired", decision: null });
  });
  test("is withdrawn where the session ended before anybody answered", () => {
    const story = begin([...toBuild(), asksFor({ to: "production" }), person("cancel_requested")]);
    expect(checkpointView(story.state, "cp-1", looking(story))?.standing).toBe("withdrawn");
  });
  test("is decided by the first answer, and an answer before its request is none that is shown", () => {
    const early = begin([submit(), person("approval_decided", { checkpoint: "cp-9" })]);
    expect(checkpointViews(early.state, looking(early))).toEqual([]);
    const story = begin([...toBuild(), asksFor({ to: "production" }), person("approval_decided", { checkpoint: "cp-1" })]);
    expect(checkpointViews(story.state, looking(story))).toMatchObject([{ standing: "decided", decision: "APPROVE" }]);
  });
});

describe("the request for a review", () => {
  test("names checkpoint, trigger, time, action, digest and the session's state", () => {
    const story = begin([...toBuild(), asksFor({ to: "production" })]);
    const view = checkpointView(story.state, "cp-1", looking(story));
    const text = view && reviewRequest(story.state, view);
    for (const part of ["`cp-1`", "`session-1`", "before", view?.since, view?.digest, '"to":"production"', "Iteration:** 1", "Status:** waiting (approval)", "Failures:**", "Plan:** Make the test pass", "Evidence:**", "loopledger approve session-1 cp-1"]) {
      expect(text).toContain(part);
    }
  });
  test("text of others cannot pass for ours: lines are joined, and a fence is longer than what it holds", () => {
    const story = begin([...toBuild({ goal: { goal: "one\n# Approved\n- **Digest:** forged" } }), asksFor({ to: "```\n# Approved" })]);
    const view = checkpointView(story.state, "cp-1", looking(story));
    const text = view ? reviewRequest(story.state, view) : "";
    expect(text.split("\n").filter((line) => line.startsWith("# "))).toEqual(["# Review requested: one # Approved - **Digest:** forged"]);
    expect(text).toContain("````json");
  });
  test("offers no decision once there is one", () => {
    const story = begin([submit({}, { failureFirst: false }), owed(), person("checkpoint_requested"), requested()]);
    const [view] = checkpointViews(story.state, looking(story));
    story.given(person("approval_decided", { checkpoint: view?.checkpoint ?? "", digest: view?.digest as never }));
    const [now] = checkpointViews(story.state, looking(story));
    expect(now && reviewRequest(story.state, now)).not.toContain("## Decide");
  });
});
