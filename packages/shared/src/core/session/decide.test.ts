import { describe, expect, it } from "vitest";
import { asks, begin, claim, own, person, toBuild } from "../../testing/index.ts";
import { type Seat, decide } from "./decide.ts";

const seat = (over: Partial<Seat> = {}): Seat => ({ ownerId: "W" as never, serves: ["build", "review"], carries: true, ownerIs: "live", ...over });

describe("an owner between two steps", () => {
  it("claims the next epoch over an effect of its own that has no outcome, then settles it before anything else", () => {
    const story = begin([...toBuild(), asks("k")]);
    expect(decide(story.state, seat())).toMatchObject({ do: "claim", dispatch: story.state.open?.eventId });
    story.given(claim("W"));
    expect(decide(story.state, seat())).toEqual({ do: "settle", keys: ["k"] });
    story.given(own("reconciled", { key: "k", outcome: "happened" }));
    expect(decide(story.state, seat())).toEqual({ do: "run", cycle: "build" });
  });
  it("does so before it obeys a pause: what is unknown is settled first", () => {
    const story = begin([...toBuild(), asks("k"), person("pause_requested", { now: true })]);
    expect(decide(story.state, seat())).toMatchObject({ do: "claim" });
    story.given(claim("W"));
    expect(decide(story.state, seat())).toMatchObject({ do: "settle" });
    story.given(own("reconciled", { key: "k", outcome: "happened" }));
    expect(decide(story.state, seat())).toMatchObject({ do: "hand_back" });
  });
});

describe("a process that does not carry the session", () => {
  it("leaves it to a live owner, claims it from one that is gone, and from itself at once", () => {
    const { state } = begin(toBuild());
    expect(decide(state, seat({ ownerId: "X" as never, carries: false }))).toEqual({ do: "wait", on: "holder", until: null });
    expect(decide(state, seat({ ownerId: "X" as never, carries: false, ownerIs: "gone" }))).toMatchObject({ do: "claim" });
    expect(decide(state, seat({ carries: false }))).toMatchObject({ do: "claim" });
  });
});
