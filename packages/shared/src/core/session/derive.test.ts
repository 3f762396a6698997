import { describe, expect, it } from "vitest";
import { asks, begin, claim, fails, inconclusive, own, person, recordOf, reported, requested, sha256, submit, toBuild, toReview } from "../../testing/index.ts";
import { dueTimers, nextDerived, nextDue } from "./derive.ts";

const far = 9_999_999_999_999 as never;
const unknownType = { ...recordOf("guidance"), type: "teleported" as never };

describe("what anybody may write now", () => {
  it("the report of an end comes first, then a checkpoint's request, then the next step", () => {
    expect(nextDerived(begin([submit()]).state)?.type).toBe("dispatched");
    expect(nextDerived(begin([submit(), person("checkpoint_requested")]).state)?.type).toBe("approval_requested");
    expect(nextDerived(begin([submit(), person("checkpoint_requested"), person("cancel_requested")]).state)?.type).toBe("status");
  });
  it("carries the cause, the id and the content that the fold will compare", () => {
    const { state } = begin([submit()]);
    expect(nextDerived(state)).toEqual({ type: "dispatched", eventId: state.owed?.eventId, cause: state.submission?.eventId, data: state.owed?.content });
  });
  it("is nothing in a session that this release cannot read", () => {
    const story = begin([submit()]).when(unknownType).thenHeld();
    expect(nextDerived(story.state)).toBeNull();
    expect(dueTimers(story.state, far, sha256)).toEqual([]);
  });
  it("is nothing once an unknown outcome has been reported, whatever waits behind it", () => {
    const story = begin([...toBuild(), person("checkpoint_requested"), asks("k", { contract: "unsafe" }), claim("X"), reported()]);
    expect(story.state.requestOwed).not.toBeNull();
    expect(nextDerived(story.state)).toBeNull();
    story.given(person("reconciled", { key: "k" }), requested());
  });
});

describe("due timers", () => {
  it("are those whose time has come, and the next one's time is known", () => {
    const story = begin([...toReview(), own("approval_requested", { expires: 600 }), inconclusive()]);
    const [first, second] = [...story.state.timers].sort((a, b) => a.dueAt - b.dueAt);
    expect(nextDue(story.state)).toBe(first?.dueAt);
    expect(dueTimers(story.state, first?.dueAt as never, sha256).map((one) => one.cause)).toEqual([first?.armedBy]);
    expect(dueTimers(story.state, far, sha256).map((one) => one.cause).sort()).toEqual([first?.armedBy, second?.armedBy].sort());
  });
  it("are offered while an outcome is unknown, and not after an end", () => {
    const unknown = begin([...toBuild(), own("approval_requested", { expires: 1 }), asks("k", { contract: "unsafe" }), claim("X")]);
    expect(dueTimers(unknown.state, far, sha256)).toHaveLength(1);
    expect(dueTimers(begin([...toReview(), fails({ next_steps: [] })]).state, far, sha256)).toEqual([]);
  });
});
