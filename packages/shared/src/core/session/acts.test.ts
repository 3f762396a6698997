import { describe, expect, it } from "vitest";
import { begin, claim, fails, own, owed, passes, person, recordOf, scheduler, submit, toBuild, toReview, written } from "../../testing/index.ts";

describe("an act", () => {
  it("is accepted once by its id", () => {
    begin([submit(), person("guidance")]).repeat().thenVoid("duplicate").given(person("guidance"));
  });
  it("that was void may be accepted later", () => {
    const story = begin([submit()]);
    const resumed = written(story, person("resumed"));
    story.when(resumed).thenVoid("not_owed").given(person("pause_requested"), resumed);
  });
  it("errors and ticks are kept and change nothing", () => {
    const story = begin([submit()]);
    const before = story.state;
    story.given(person("error"), scheduler("tick", { became: "no_mutation_owed" }));
    expect({ ...story.state, seq: 0, digest: "", at: null, position: null, acts: null }).toEqual({ ...before, seq: 0, digest: "", at: null, position: null, acts: null });
  });
});

describe("pause", () => {
  it("lets the open cycle finish, and shows as paused once nobody works", () => {
    const story = begin([...toBuild(), person("pause_requested")]);
    expect(story.status.disposition).toBe("running");
    expect(story.given(own("built")).status).toMatchObject({ disposition: "waiting", reason: "paused" });
  });
  it("at once shows at once", () => {
    expect(begin([...toBuild(), person("pause_requested", { now: true })]).status).toMatchObject({ disposition: "waiting", reason: "paused" });
  });
  it("is asked for once, but may become at once", () => {
    begin([submit(), person("pause_requested")]).when(person("pause_requested")).thenVoid("duplicate").given(person("pause_requested", { now: true }))
      .when(person("pause_requested", { now: true })).thenVoid("duplicate").given(person("resumed")).when(person("resumed")).thenVoid("not_owed");
  });
});

describe("suspension by the owner", () => {
  it.each(["handler_missing", "check_changed", "evidence_missing"] as const)("%s waits for resume, with the dispatch open and nobody in it", (reason) => {
    const story = begin([...toBuild(), own("status", { disposition: "waiting", reason, error: "agent" })]);
    expect(story.status).toMatchObject({ disposition: "waiting", reason, error: "agent", owner: null, waitingOn: [{ kind: reason }] });
    story.when(own("built", {}, { ownerId: "W" as never })).thenVoid("stale_epoch").given(person("resumed"), claim("X"), own("built"));
  });
  it("no other disposition or reason is an owner's to say", () => {
    begin(toBuild()).when(own("status", { disposition: "done", reason: null, error: null })).thenVoid("forbidden")
      .when(own("status", { disposition: "waiting", reason: "paused", error: null })).thenVoid("forbidden")
      .when(own("status", { disposition: "handed_off", reason: "no_progress", error: null })).thenVoid("forbidden")
      .when(own("status", { disposition: "failed", reason: "incomplete_tool_turn", error: null })).thenVoid("not_owed");
  });
});

describe("guidance", () => {
  it("is there for the next build, at most twenty of it, and is used up by it", () => {
    const story = begin([submit()]);
    for (let i = 1; i <= 25; i++) story.given(person("guidance", { text: `hint ${i}` }));
    expect(story.state.guidance).toHaveLength(20);
    expect(story.state.guidance.at(-1)).toBe("hint 25");
    expect(begin([...toBuild(), person("guidance"), own("built")]).state.guidance).toEqual([]);
  });
});

describe("rules", () => {
  it("are raised by a record, never lowered or repeated", () => {
    begin([submit()]).when(person("rules_raised", { rules: 1 })).thenVoid("not_owed");
    expect(begin([submit()]).state.rules).toBe(1);
  });
});

describe("learning", () => {
  it("names the last accepted check", () => {
    const story = begin([...toReview(), fails()]);
    story.when(recordOf("learning", { check: "other" as never })).thenVoid("not_owed");
    story.given(recordOf("learning", { check: story.state.lastCheck?.eventId as never }));
    begin(toBuild()).when(recordOf("learning")).thenVoid("not_owed");
  });
  it("stands between a PASS and its receipt, not after the end", () => {
    const story = begin([...toReview(), passes()]);
    const check = story.state.lastCheck?.eventId as never;
    story.given(recordOf("learning", { check }), owed()).when(recordOf("learning", { check })).thenVoid("after_end");
  });
  it("comes from a checker", () => {
    const story = begin([...toReview(), fails()]);
    story.when({ ...recordOf("learning", { check: story.state.lastCheck?.eventId as never }), actor: { kind: "maker", id: "m" } }).thenVoid("forbidden");
  });
});
