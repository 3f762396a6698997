import { describe, expect, it } from "vitest";
import { begin, claim, dispatchAhead, fails, own, ownerRecords, owed, passes, person, reported, submit, toBuild, toFirstCheck, toReview, written } from "../../testing/index.ts";
import { nextDerived } from "./derive.ts";

const review = { cycle: "review", leaf: "goal", iteration: 1, task: "Make the test pass" } as const;

describe("a dispatch", () => {
  it("is accepted once a cause, whoever writes it and however often", () => {
    const story = begin([submit(), owed()]);
    const again = story.entries.at(-1);
    expect(again?.parsed.kind).toBe("record");
    story.repeat().thenVoid("duplicate").given(claim("W")).appendText(again?.text ?? "").thenVoid("duplicate");
    story.given(fails()).appendText(again?.text ?? "").thenVoid("not_owed").given(owed()).appendText(again?.text ?? "").thenVoid("not_owed");
    expect(story.words.filter((word) => word === "accepted")).toHaveLength(5);
  });
  it("needs exactly the content that is owed", () => {
    begin([submit()]).when(owed({ task: "something else" })).thenVoid("not_owed").when(owed({ iteration: 1 })).thenVoid("not_owed")
      .when(owed({ cycle: "build" })).thenVoid("not_owed").when(owed({ leaf: "other" })).thenVoid("not_owed").given(owed());
  });
  it("needs the id that follows from its cause, and the cause itself", () => {
    const story = begin([submit()]);
    const right = written(story, owed());
    story.when({ ...right, eventId: "made-up" } as never).thenVoid("malformed");
    story.when({ ...right, cause: { eventId: "another" } } as never).thenVoid("not_owed");
    story.when({ ...right, cause: undefined } as never).thenVoid("not_owed");
    story.when({ ...right, cause: { eventId: story.state.owed?.cause, seq: 77 } } as never).thenAccepted();
  });
  it("of a void cause is void, also inside one batch", () => {
    const story = begin(toBuild());
    const w = ownerRecords({ ownerId: "W", epoch: 1, dispatch: story.state.open?.eventId as never });
    const built = w.next("built");
    story.given(claim("X")).when(built).thenVoid("stale_epoch").when(dispatchAhead(built.eventId, review)).thenVoid("not_owed");
    expect(story.state.open?.cycle).toBe("build");
  });
  it("of an accepted cause in one batch goes on at once", () => {
    const story = begin(toBuild());
    const w = ownerRecords({ ownerId: "W", epoch: 1, dispatch: story.state.open?.eventId as never });
    const built = w.next("built");
    story.given(built, dispatchAhead(built.eventId, review));
    expect(story.status).toMatchObject({ active: "review", iteration: 1, epoch: 1 });
  });
  it("beside an open one is never accepted", () => {
    const story = begin(toBuild());
    story.when(dispatchAhead(story.state.submission?.eventId as never, { ...review, cycle: "build" })).thenVoid("duplicate");
    story.when(dispatchAhead("other" as never, { ...review, cycle: "build" })).thenVoid("not_owed");
  });
  it("is not written under an epoch, and by nobody but the scheduler's hand", () => {
    const story = begin([submit()]);
    const right = written(story, owed());
    story.when({ ...right, epoch: 1, ownerId: "W", n: 1 } as never).thenVoid("malformed");
    story.when({ ...right, actor: { kind: "worker", id: "w" } } as never).thenVoid("forbidden");
  });
});

describe("while the session is suspended what is owed is kept and no dispatch is accepted", () => {
  it("paused; the open cycle finishes, and resumed lets the same dispatch through", () => {
    const story = begin([...toBuild(), person("pause_requested"), own("built")]);
    expect(story.status).toMatchObject({ disposition: "waiting", reason: "paused" });
    expect(nextDerived(story.state)).toBeNull();
    story.when(owed()).thenVoid("suspended").given(person("resumed"));
    expect(nextDerived(story.state)).toMatchObject({ type: "dispatched", data: review });
    story.given(owed());
  });
  it("its id is not burnt by a refusal", () => {
    const story = begin([submit(), person("pause_requested")]).when(owed()).thenVoid("suspended").when(owed()).thenVoid("suspended");
    story.given(person("resumed"), owed());
  });
  it("at a checkpoint", () => {
    const story = begin([submit(), person("checkpoint_requested")]).when(owed()).thenVoid("suspended");
    expect(story.status).toMatchObject({ disposition: "waiting", reason: "approval" });
    expect(nextDerived(story.state)?.type).toBe("approval_requested");
  });
  it("out of iterations, but a review still goes", () => {
    const story = begin(toBuild({ bounds: { iterations: 1 } })).given(own("built"), owed(), fails()).when(owed()).thenVoid("suspended");
    expect(story.status).toMatchObject({ disposition: "waiting", reason: "budget_exhausted" });
    story.given(person("budget_raised", { iterations: 1 }), owed());
    expect(story.status.budget.iterations).toEqual({ limit: 2, reserved: 1, spent: 1, remaining: 0 });
  });
});

describe("the receipt", () => {
  const finished = () => begin([...toReview(), passes()]);
  it("is owed after the goal's own PASS, and anybody writes it where the checker died", () => {
    const story = finished();
    expect(nextDerived(story.state)?.type).toBe("receipt");
    expect(story.status.disposition).toBe("running");
    story.given(owed());
    expect(story.status).toMatchObject({ disposition: "done", reason: null, verdict: { verdict: "PASS" }, endedAt: story.status.at });
    expect(story.status.receipt).toMatchObject({ sessionId: "session-1", check: { name: "tests" }, revision: "r1", finalCheckSeq: 6, seq: 7 });
  });
  it("has the running digest of everything before it", () => {
    const story = finished();
    const before = story.state.digest;
    expect(story.given(owed()).state.receipt?.ledgerDigest).toBe(before);
  });
  it("is not owed for a check that passes before any work", () => {
    const story = begin([...toFirstCheck(), passes()]);
    expect(story.state.owed).toBeNull();
    expect(story.status).toMatchObject({ disposition: "done", reason: "no_mutation_owed", receipt: null, iteration: 0 });
  });
  it("with other content is void", () => {
    finished().when(owed({ revision: "r9" })).thenVoid("not_owed").when(owed({ pinned: [] })).thenVoid("not_owed").given(owed());
  });
  it("comes once", () => {
    finished().given(owed()).repeat().thenVoid("after_end");
  });
  it("is not held back by a pause: the pause lets the open cycle finish", () => {
    const story = begin([...toReview(), person("pause_requested"), passes()]);
    expect(nextDerived(story.state)?.type).toBe("receipt");
    expect(story.given(owed()).status.disposition).toBe("done");
  });
  it("is void where a cancel came between it and its check", () => {
    const story = finished();
    const receipt = written(story, owed());
    story.given(person("cancel_requested")).when(receipt).thenVoid("after_end");
    expect(story.status).toMatchObject({ disposition: "cancelled", reason: "cancelled" });
  });
});

describe("the status of an end", () => {
  it("is owed, accepted once after the end, and changes nothing that is shown", () => {
    const story = begin([...toReview(), passes(), owed()]);
    const shown = story.status;
    expect(nextDerived(story.state)).toMatchObject({ type: "status", data: { disposition: "done", reason: null, error: null } });
    story.given(reported());
    expect({ ...story.status, asOf: shown.asOf, at: shown.at, position: shown.position }).toEqual(shown);
    expect(nextDerived(story.state)).toBeNull();
    story.repeat().thenVoid("not_owed");
  });
  it("with another disposition is void", () => {
    begin([...toReview(), passes(), owed()]).when(reported({ disposition: "failed" })).thenVoid("not_owed").given(reported());
  });
  it("before an end is void", () => {
    const ended = begin([...toReview(), passes(), owed()]);
    const report = written(ended, reported());
    begin(toReview()).when(report).thenVoid("not_owed");
  });
  it("of an end that was re-opened meanwhile is void", () => {
    const story = begin([...toReview(), fails({ next_steps: [] })]);
    const late = written(story, reported());
    story.given(person("resumed")).when(late).thenVoid("not_owed");
  });
});
