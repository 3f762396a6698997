import { describe, expect, it } from "vitest";
import { type Act, isRepeat, refusalOf, refusedBefore } from "./acts.ts";
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

describe("a refused act", () => {
  const guidance: Act = { type: "guidance", data: { text: "left" } };
  const ann = { id: "ann" };
  const after = { reason: "after_end", detail: "" } as const;
  const cancelled = () => begin([submit(), person("cancel_requested")]).state;
  it("says how a session ended in words, whatever their number, and since when", () => {
    const { state } = begin([...toBuild(), own("cycle_failed", { terminal: true, class: "deterministic" })]);
    const { ground, message } = refusalOf(guidance, after, { state, actor: ann });
    expect([state.end?.disposition, ground]).toEqual(["handed_off", "handed_off"]);
    expect(message).toMatch(/^The session is handed off \(\w+\) since seq \d+: it takes no more of this\. \(void: after_end\)$/);
    expect(refusalOf(guidance, after, { state: cancelled(), actor: ann })).toMatchObject({ ground: "over", message: expect.stringContaining("is cancelled since seq") });
  });
  it("says what the ledger's reason means where nothing more is known", () => {
    expect(refusalOf(guidance, { reason: "suspended", detail: "" }, { state: begin([submit()]).state, actor: ann })).toEqual({
      ground: "refused", message: "The ledger refused it: the session is suspended. (void: suspended)",
    });
  });
  it("is no refusal where the same was so before", () => {
    const cancel: Act = { type: "cancel_requested", data: { reason: "" } };
    expect([isRepeat(cancel, after, cancelled()), isRepeat(guidance, after, cancelled()), isRepeat(guidance, { reason: "duplicate", detail: "" }, cancelled())]).toEqual([true, false, true]);
  });
  it("of a session on hold is refused before it is written, and calls nothing void", () => {
    const state = { ...begin([submit()]).state, hold: { detail: "type from_the_future", since: 1 as never } };
    const refused = refusedBefore(state);
    expect(refused).toEqual({ reason: "held", detail: "type from_the_future" });
    expect(refused && refusalOf(guidance, refused, { state, actor: ann }).message).toBe("The session holds a record that this release does not know: type from_the_future.");
  });
});
