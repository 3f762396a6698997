import { describe, expect, it } from "vitest";
import { claim, begin, claimCases, fenceCases, fencedAt, own, owed, recordOf, submit } from "../../testing/index.ts";
import { claimFence, fence, fitsCycle } from "./fence.ts";
import { guardsOn } from "./guards.ts";
import { eventTypes } from "../events/index.ts";

const view = () => begin([submit({}, { failureFirst: false }), owed(), claim("V"), own("error"), claim("W"), own("error"), own("error"), own("error")]);

describe("the fence over owner records", () => {
  it("stands where the table says", () => {
    const { state } = view();
    expect({ epoch: state.epoch, ownerId: state.owner?.id, n: state.n }).toEqual(fencedAt);
  });

  it.each(fenceCases)("$name: $expected", ({ epoch, ownerId, n, expected }) => {
    const { state } = view();
    expect(fence(state, recordOf("error", {}, { epoch, ownerId, n }), guardsOn)).toBe(expected);
  });

  it.each(fenceCases)("in the fold, $name: $expected", ({ epoch, ownerId, n, expected }) => {
    const story = view().when(own("error", {}, { epoch, ownerId, n }));
    if (expected === null) story.thenAccepted();
    else story.thenVoid(expected);
  });

  it("lets nothing through that lacks a part of the token", () => {
    const { state } = view();
    expect(fence(state, recordOf("error", {}, { epoch: fencedAt.epoch, ownerId: fencedAt.ownerId }), guardsOn)).toBe("malformed");
    expect(fence(state, recordOf("error", {}, { epoch: fencedAt.epoch, n: 4 }), guardsOn)).toBe("malformed");
  });

  it("refuses everything of an epoch whose owner has handed back", () => {
    view().given(own("handed_back")).when(own("error", {}, { ownerId: fencedAt.ownerId })).thenVoid("stale_epoch");
  });
});

describe("the fence over claims", () => {
  it.each(claimCases)("$name: $expected", ({ epoch, ownerId, expected }) => {
    const { state } = view();
    const dispatch = state.open?.eventId as never;
    expect(claimFence(state, recordOf("claimed", { dispatch }, { epoch, ownerId }))).toBe(expected);
  });
  it.each(claimCases)("in the fold, $name: $expected", ({ epoch, ownerId, expected }) => {
    const story = view().when(claim(ownerId, { epoch }));
    if (expected === null) story.thenAccepted();
    else story.thenVoid(expected);
  });
});

describe("types and cycles", () => {
  it("keeps tool intents and builds out of a review, and checks out of a build", () => {
    expect(eventTypes.filter((type) => !fitsCycle(type, "review"))).toEqual(["tool_requested", "tool_result", "reconciled", "built", "compaction"]);
    expect(eventTypes.filter((type) => !fitsCycle(type, "build"))).toEqual(["check"]);
  });
});
