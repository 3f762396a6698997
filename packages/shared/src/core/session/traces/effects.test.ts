/**
 * Shortest histories in which a fold without one rule goes wrong: looks, fences, windows, and ends over what is unknown.
 * Each is fed in the same order of records to the fold.
 */
import { describe, expect, it } from "vitest";
import { type Story, asks, begin, claim, fired, own, ownerRecords, owed, person, requested, toBuild, written } from "../../../testing/index.ts";
import { lookUp } from "../persistent-map.ts";

const build = (...more: Parameters<Story["given"]>) => begin([...toBuild({ owner: "P" }), ...more]);
const didNot = (over = {}) => own("reconciled", { key: "k1", outcome: "did_not_happen", ...over });
const says = (over = {}) => person("reconciled", { key: "k1", outcome: "did_not_happen", ...over });
const lateResult = (story: Story) => ownerRecords({ ownerId: "P", epoch: 1, dispatch: story.state.open?.eventId as never, n: 1 }).next("tool_result", { key: "k1" });

describe("left out: the look fences the target, or the window is over", () => {
  it("a new owner of an effect whose target does not fence cannot conclude while the old owner may still call", () => {
    const story = build(asks("k1", { fences: false }), claim("Q")).when(didNot()).thenVoid("not_owed");
    story.wait(61_000).given(didNot());
  });
  it("where the target fences, the look under the higher epoch concludes, and the old owner's late outcome is stale", () => {
    const story = build(asks("k1", { fences: true }));
    const late = lateResult(story);
    story.given(claim("Q"), didNot(), asks("k1"), own("tool_result", { key: "k1" })).when(late).thenVoid("stale_epoch");
  });
  it("a call in flight of a dead process is waited for in the same way", () => {
    const story = build(asks("k1", { fences: false }), claim("P.1")).when(didNot()).thenVoid("not_owed");
    story.given(own("reconciled", { key: "k1", outcome: "happened" }));
    expect(lookUp(story.state.effects, "k1")?.settled).toBe("confirmed");
  });
  it("a person's word on an unsafe effect is bound to it as well", () => {
    const story = build(asks("k1", { contract: "unsafe", fences: false }), claim("Q")).when(says()).thenVoid("not_owed");
    story.wait(61_000).given(says(), claim("P"), asks("k1", { contract: "unsafe" }));
  });
  it("and on an idempotent one", () => {
    const failed = own("status", { disposition: "failed", reason: "incomplete_tool_turn", error: null });
    const story = build(asks("k1", { contract: "idempotent", fences: false }), claim("P.1"), failed).when(says()).thenVoid("not_owed");
    story.wait(61_000).given(says());
  });
  it("the window counts from the last claim, because its owner may have called again", () => {
    const story = build(asks("k1", { contract: "idempotent", fences: false })).wait(59_000).given(claim("P.1")).wait(30_000).given(claim("P.2"));
    story.given(own("status", { disposition: "failed", reason: "incomplete_tool_turn", error: null })).wait(40_000).when(says()).thenVoid("not_owed");
    story.wait(25_000).given(says());
  });
});

describe("left out: a live owner whose answer is lost claims the next epoch before it concludes", () => {
  it("did_not_happen in the intent's own epoch is void", () => {
    build(asks("k1")).when(didNot()).thenVoid("not_owed").given(claim("P"), didNot());
  });
  it("so is the record that looking stayed without an answer", () => {
    const unanswered = own("status", { disposition: "failed", reason: "incomplete_tool_turn", error: null });
    const story = build(asks("k1")).when(unanswered).thenVoid("not_owed").given(claim("P"), unanswered);
    expect(story.status.reason).toBe("incomplete_tool_turn");
  });
  it("an unsafe effect whose request was lost on its way does not stand still: the claim itself derives the unknown", () => {
    const story = build(asks("k1", { contract: "unsafe" }), claim("P"));
    expect(story.status).toMatchObject({ disposition: "failed", takeovers: 0 });
    story.given(says(), claim("P"), asks("k1", { contract: "unsafe" }), own("tool_result", { key: "k1" }), own("built"), owed());
  });
});

describe("left out: a person's word counts only while the effect is unknown, for the epoch of the look", () => {
  it("while its owner is acting it is void", () => {
    build(asks("k1", { contract: "unsafe" })).when(says()).thenVoid("not_owed").when(says({ outcome: "happened" })).thenVoid("not_owed");
  });
  it("a look that is older than the takeover is void", () => {
    const story = build(asks("k1"));
    const early = written(story, says());
    story.given(claim("Q")).when(early).thenVoid("stale_epoch");
  });
});

describe("left out: an end hides no unknown", () => {
  it("cancel over an unsettled effect does not end yet", () => {
    const story = build(asks("k1"), person("cancel_requested"));
    expect(story.state.end).toBeNull();
    expect(story.given(own("tool_result", { key: "k1" })).status.disposition).toBe("cancelled");
  });
  it("the takeover limit over an unsettled effect is failed(incomplete_tool_turn), not handed off", () => {
    const story = begin([...toBuild({ owner: "P", bounds: { takeovers: 1 } }), asks("k1"), claim("P.1"), claim("P.2")]);
    expect(story.status).toMatchObject({ disposition: "failed", reason: "incomplete_tool_turn" });
  });
  it("REJECT of a checkpoint from outside waits for it", () => {
    const story = build(person("checkpoint_requested"), requested(), asks("k1"));
    const [id] = story.state.pending;
    story.given(person("approval_decided", { checkpoint: id as never, decision: "REJECT", digest: lookUp(story.state.checkpoints, id as string)?.digest as never }, "boss"));
    expect(story.state.end).toBeNull();
    expect(story.given(own("tool_result", { key: "k1" })).status.reason).toBe("approval_rejected");
  });
  it("so does the expiry of one", () => {
    const story = build(own("approval_requested", { expires: 1 }), asks("k1")).wait(5000).given(fired("approval"));
    expect(story.state.end).toBeNull();
    story.when(asks("k2")).thenVoid("suspended");
    expect(story.given(own("tool_result", { key: "k1" })).status.reason).toBe("approval_expired");
  });
  it("cycle_failed over an unsettled effect is void, also while cancelling", () => {
    const story = build(asks("k1"), person("cancel_requested"), claim("P")).when(own("cycle_failed")).thenVoid("suspended");
    story.given(didNot());
    expect(story.status.disposition).toBe("cancelled");
  });
});
