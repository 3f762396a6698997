import { describe, expect, it } from "vitest";
import { asks, begin, claim, own, owed, passes, person, submit, toBuild, toReview } from "../../testing/index.ts";
import { decide } from "./decide.ts";
import { holderOf } from "./state.ts";

const dispatched = (bounds = {}) => begin([submit({}, { failureFirst: false, ...bounds }), owed()]);
const unknown = "external outcome unknown; reconciliation required";

describe("a claim is a compare-and-set by log order", () => {
  it("the first in the log wins, its rivals are void, and the winner's number starts again", () => {
    const story = dispatched().given(claim("W")).when(claim("X", { epoch: 1 })).thenVoid("rival").when(claim("Y", { epoch: 1 })).thenVoid("rival");
    expect(story.status).toMatchObject({ epoch: 1, owner: { id: "W", role: "worker" }, active: "build", void: { rival: 2 } });
    story.given(own("error"), own("error"), claim("X"), own("error"));
    expect(story.state.n).toBe(1);
  });
  it("exactly plus one: an invented far epoch does not lock the session", () => {
    dispatched().when(claim("W", { epoch: 900 })).thenVoid("gap").when(claim("W", { epoch: 2 })).thenVoid("gap").given(claim("W"));
  });
  it("an older epoch is stale, the accepted claim repeated is a duplicate", () => {
    begin([...toBuild(), claim("X")]).when(claim("W", { epoch: 1 })).thenVoid("stale_epoch").when(claim("X", { epoch: 2 })).thenVoid("duplicate");
  });
  it("names the dispatch that is open", () => {
    begin([submit()]).when(claim("W")).thenVoid("not_owed");
    dispatched().when(claim("W", { dispatch: "another" as never })).thenVoid("not_owed");
    const story = dispatched();
    const first = story.state.open?.eventId as never;
    story.given(claim("W"), own("built"), owed()).when(claim("X", { dispatch: first })).thenVoid("not_owed");
  });
  it("serves the cycle that it claims", () => {
    dispatched().when(claim("C", { serves: ["review"] })).thenVoid("wrong_cycle").given(claim("W", { serves: ["build"] }));
  });
  it("carries no number of its own, and both parts of the token", () => {
    dispatched().when(claim("W", { envelope: { n: 5 } })).thenVoid("malformed")
      .when(claim("W", { envelope: { ownerId: undefined } })).thenVoid("malformed").given(claim("W"), own("error"));
  });
  it("after the end there is none", () => {
    begin([...toReview(), passes(), owed()]).when(claim("X", { dispatch: "any" as never })).thenVoid("after_end");
  });
});

describe("who holds the open dispatch", () => {
  it("an owner keeps its epoch over the cycles that it serves", () => {
    const story = begin(toReview());
    expect(story.state.epoch).toBe(1);
    expect(holderOf(story.state)?.id).toBe("W");
  });
  it("a cycle that the owner does not serve is held by nobody, and the former owner writes nothing in it", () => {
    const story = begin([submit({}, { failureFirst: false }), owed(), claim("W", { serves: ["build"] }), own("built"), owed()]);
    expect(story.status).toMatchObject({ owner: null, active: null });
    expect(decide(story.state, { ownerId: "C" as never, serves: ["review"], carries: false, ownerIs: "live" })).toMatchObject({ do: "claim" });
    story.when(own("error")).thenVoid("wrong_cycle").when(passes()).thenVoid("wrong_cycle").given(claim("C", { serves: ["review"] }));
    expect(story.status).toMatchObject({ takeovers: 0, attempt: 1 });
  });
  it("a handed-back dispatch is free at once", () => {
    const story = begin([...toBuild(), own("handed_back")]);
    expect(story.status.owner).toBeNull();
    story.when(own("handed_back", { dispatch: "another" as never }, { ownerId: "W" as never })).thenVoid("stale_epoch").given(claim("X"));
    expect(story.status).toMatchObject({ takeovers: 0, attempt: 2 });
  });
  it("handing back names the open dispatch", () => {
    begin(toBuild()).when(own("handed_back", { dispatch: "another" as never })).thenVoid("not_owed");
  });
});

describe("takeovers", () => {
  it("are counted, but an owner's own next claim is none and keeps its run", () => {
    const story = begin([...toBuild(), claim("W")]);
    expect(story.status).toMatchObject({ epoch: 2, takeovers: 0, attempt: 1 });
    story.given(claim("X"));
    expect(story.status).toMatchObject({ epoch: 3, takeovers: 1, attempt: 2 });
  });
  it("in which the former owner advanced nothing are bounded, then the session is handed off", () => {
    const story = begin(toBuild({ bounds: { takeovers: 3 } })).given(claim("A"), claim("B"), claim("C"));
    expect(story.status).toMatchObject({ disposition: "handed_off", reason: "takeover_limit" });
    story.when(claim("D")).thenVoid("after_end");
  });
  it("advancing anything starts the count again", () => {
    const story = begin(toBuild({ bounds: { takeovers: 3 } })).given(claim("A"), claim("B"), own("error"), claim("C"), claim("D"));
    expect(story.status.disposition).toBe("running");
    story.given(claim("E"), claim("F"));
    expect(story.status.reason).toBe("takeover_limit");
  });
  it("an owner's own claims in between neither count nor start it again", () => {
    const story = begin(toBuild({ bounds: { takeovers: 2 } })).given(claim("A"), claim("A"), claim("B"));
    expect(story.status.reason).toBe("takeover_limit");
  });
  it("count also where the dispatch came to an owner at work that then did nothing in it", () => {
    const story = begin(toReview({ bounds: { takeovers: 1 } })).given(claim("X"));
    expect(story.status.reason).toBe("takeover_limit");
  });
  it("at the limit over an unsettled effect end in the unknown, and hide nothing", () => {
    const story = begin([...toBuild({ bounds: { takeovers: 2 } }), asks("k"), claim("A"), claim("B")]);
    expect(story.status.disposition).toBe("running");
    story.given(claim("C"));
    expect(story.status).toMatchObject({ disposition: "failed", reason: "incomplete_tool_turn", error: unknown });
  });
});

describe("a suspended session", () => {
  it("is claimed by nobody, unless there is something to settle", () => {
    const suspended = begin([...toBuild(), own("status", { disposition: "waiting", reason: "handler_missing", error: "agent" })]);
    suspended.when(claim("X")).thenVoid("suspended").given(person("resumed"), claim("X"));
  });
});
