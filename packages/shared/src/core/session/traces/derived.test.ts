/**
 * Shortest histories in which a fold without one rule goes wrong: what is owed, dispatches, receipts, timers, status, suspension.
 * Each is fed in the same order of records to the fold.
 */
import { describe, expect, it } from "vitest";
import { asks, begin, claim, dispatchAhead, fails, fired, inconclusive, own, ownerRecords, owed, passes, person, reported, requested, submit, toBuild, toReview, written } from "../../../testing/index.ts";
import { nextDerived } from "../derive.ts";

const review = { cycle: "review", leaf: "goal", iteration: 1, task: "Make the test pass" } as const;
const answered = [asks("k1"), own("tool_result", { key: "k1" })];

describe("left out: a dispatch's cause is an accepted record", () => {
  it("the second half of a batch whose first half is void is void too", () => {
    const story = begin([...toBuild({ owner: "P" }), ...answered]);
    const built = ownerRecords({ ownerId: "P", epoch: 1, dispatch: story.state.open?.eventId as never, n: 2 }).next("built");
    story.given(claim("Q")).when(built).thenVoid("stale_epoch").when(dispatchAhead(built.eventId, review)).thenVoid("not_owed");
  });
  it("what slips in between a record and its prediction makes no second dispatch: the id follows from the cause alone", () => {
    const story = begin([...toBuild({ owner: "P" }), ...answered]);
    const built = written(story, own("built"));
    const ahead = written(story, dispatchAhead(built.eventId, review));
    story.given(person("guidance"), built, ahead);
    const byAnother = written(story, dispatchAhead(built.eventId, review));
    expect(byAnother.eventId).toBe(ahead.eventId);
    story.when(byAnother).thenVoid("duplicate");
  });
});

describe("left out: the receipt is derived", () => {
  it("the checker dies between PASS and receipt: nobody can claim, anybody writes it", () => {
    const story = begin([...toReview({ owner: "P" }), passes()]).when(claim("P.1", { epoch: 2 })).thenVoid("not_owed").when(claim("Q", { epoch: 2 })).thenVoid("not_owed");
    story.given(owed());
    expect(story.status.disposition).toBe("done");
  });
});

describe("left out: only accepted records make a later one a duplicate", () => {
  it("a dispatch that was void while paused is accepted after resume, under the same id", () => {
    const story = begin([submit(), person("pause_requested")]);
    const dispatch = written(story, owed());
    story.when(dispatch).thenVoid("suspended").given(person("resumed"), dispatch);
  });
});

describe("left out: a timer fires once per arming record", () => {
  it("two schedulers fire one timer: one acceptance, one dispatch", () => {
    const story = begin([...toReview({ owner: "P" }), inconclusive()]).wait(5000);
    const first = written(story, fired("check"));
    const second = written(story, fired("check"));
    expect(second.eventId).toBe(first.eventId);
    story.given(first, owed()).when(second).thenVoid("not_armed").when({ ...second, eventId: "of.its.own" as never }).thenVoid("malformed");
    expect(story.state.owed).toBeNull();
  });
});

describe("left out: a due retry lets the same dispatch go on", () => {
  it("nothing new is owed, no iteration is charged again", () => {
    const story = begin([...toBuild({ owner: "P" }), own("retry")]).wait(5000);
    const dispatch = story.state.open?.eventId;
    const timer = written(story, fired("retry"));
    story.given(timer).when(dispatchAhead(timer.eventId, { cycle: "build", leaf: "goal", iteration: 1, task: "Make the test pass" })).thenVoid("not_owed");
    expect(story.state.open?.eventId).toBe(dispatch);
    expect(story.status.budget.iterations).toMatchObject({ reserved: 1, spent: 0 });
  });
  it("a retry in a review opens no second one beside it", () => {
    const story = begin([...toReview({ owner: "P" }), own("retry")]).wait(5000);
    const timer = written(story, fired("retry"));
    story.given(timer).when(dispatchAhead(timer.eventId, review)).thenVoid("not_owed").given(passes());
  });
  it("its owner does not go on by its own clock", () => {
    begin([...toBuild({ owner: "P" }), own("retry")]).when(own("built")).thenVoid("suspended").wait(5000).given(fired("retry"), own("built"));
  });
  it("over an unsettled effect and a cancel the dispatch stays claimable, and the cancel takes effect", () => {
    const story = begin([...toBuild({ owner: "P" }), asks("k1"), person("cancel_requested"), claim("P.1"), own("retry")]).wait(5000);
    story.given(fired("retry"), own("reconciled", { key: "k1", outcome: "did_not_happen" }));
    expect(story.status.disposition).toBe("cancelled");
  });
});

describe("left out: what answers a timer disarms it", () => {
  it("an approval does not expire after its APPROVE", () => {
    const story = begin([...toBuild({ owner: "P" }), own("approval_requested", { expires: 1 })]);
    const expiry = written(story, fired("approval"));
    story.given(person("approval_decided", {}, "boss")).wait(5000).when(expiry).thenVoid("not_armed");
    expect(story.status.disposition).toBe("running");
  });
});

describe("left out: status and what is owed stand in slots of their own", () => {
  it("handed off by the breaker and resumed: the resumption is the cause of the next dispatch", () => {
    const story = begin([...toReview({ owner: "P", bounds: { breakerSame: 2 } }), fails(), owed(), own("built"), owed()]);
    const check = written(story, fails());
    story.given(check).when(dispatchAhead(check.eventId, { cycle: "build", leaf: "goal", iteration: 3, task: "repair the sum" })).thenVoid("after_end");
    story.given(reported(), person("resumed"));
    expect(nextDerived(story.state)).toMatchObject({ type: "dispatched", data: { cycle: "build", iteration: 3 } });
  });
  it("a resumption that overtakes the report of the end drops it", () => {
    const story = begin([...toReview({ owner: "P" }), fails({ next_steps: [] })]);
    const report = written(story, reported());
    story.given(person("resumed")).when(report).thenVoid("not_owed").given(owed());
  });
});

describe("left out: a status is judged by its cause", () => {
  it("the report of a first unknown outcome does not stand for a second one with the same words", () => {
    const story = begin([...toBuild({ owner: "P" }), asks("k1", { contract: "unsafe" }), claim("P.1")]);
    const first = written(story, reported());
    story.given(person("reconciled", { key: "k1", outcome: "did_not_happen" }), claim("Q"), asks("k1", { contract: "unsafe" }), claim("Q.1"));
    expect(story.state.statusOwed?.content).toEqual(first.data);
    story.when(first).thenVoid("not_owed").given(reported());
  });
});

describe("left out: out of iterations holds builds only", () => {
  it("the review of the last build is dispatched, and the goal can be done", () => {
    const story = begin([...toBuild({ owner: "P", bounds: { iterations: 1 } }), ...answered, own("built"), owed(), passes(), owed()]);
    expect(story.status).toMatchObject({ disposition: "done", budget: { iterations: { remaining: 0 } } });
  });
});

describe("left out: the policy's checkpoint is derived at the record that calls for it", () => {
  it("[check FAIL, dispatched] in one batch does not slip past it", () => {
    const story = begin([...toReview({ owner: "P", goal: { policy: { approvals: [{ everyIterations: 1 }] } } })]);
    const check = written(story, fails());
    const ahead = dispatchAhead(check.eventId, { cycle: "build", leaf: "goal", iteration: 2, task: "repair the sum" });
    story.given(check).when(ahead).thenVoid("suspended").given(requested()).when(ahead).thenVoid("suspended");
  });
});

describe("left out: a checkpoint's request stands beside what is owed", () => {
  it("one that a person asks for before anything was dispatched loses nothing", () => {
    const story = begin([submit(), person("checkpoint_requested")]);
    expect([story.state.owed?.what, story.state.requestOwed?.what]).toEqual(["dispatched", "approval_requested"]);
  });
});
