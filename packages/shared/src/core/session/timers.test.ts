import { describe, expect, it } from "vitest";
import { armed, asks, begin, claim, fails, fired, inconclusive, own, owed, passes, person, requested, sha256, toBuild, toFirstCheck, toReview, written } from "../../testing/index.ts";
import { dueTimers, nextDerived, nextDue } from "./derive.ts";

const retrying = (delay = 2) => begin([...toBuild(), own("retry", { delay_seconds: delay })]);

describe("a timer", () => {
  it("fires once, not before it is due by the record's own append time", () => {
    const story = retrying();
    const due = nextDue(story.state) ?? 0;
    story.when(fired("retry")).thenVoid("not_armed").when(fired("retry"), { time: (due - 1) as never }).thenVoid("not_armed");
    const record = written(story, fired("retry"));
    story.when(record, { time: due as never }).thenAccepted().when(record, { time: (due + 1) as never }).thenVoid("not_armed");
  });
  it("has the id that follows from what armed it", () => {
    retrying().wait(5000).when(fired("retry", { eventId: "made-up" as never })).thenVoid("malformed");
  });
  it("that nobody armed does not fire, nor as another kind", () => {
    const story = retrying().wait(5000);
    story.when(fired("retry", { timer: "another" as never })).thenVoid("not_armed").when(fired("retry", { kind: "check" })).thenVoid("not_armed").given(fired("retry"));
  });
  it("is offered to whoever writes it, once it is due", () => {
    const story = retrying();
    const due = nextDue(story.state) ?? 0;
    expect(dueTimers(story.state, (due - 1) as never, sha256)).toEqual([]);
    expect(dueTimers(story.state, due as never, sha256)).toMatchObject([{ type: "timer_fired", cause: armed(story.state, "retry"), data: { kind: "retry" } }]);
  });
});

describe("a retry keeps its dispatch open", () => {
  it("until it fires nobody goes on in it, then the same dispatch goes on in the same epoch", () => {
    const story = retrying();
    expect(story.status).toMatchObject({ disposition: "waiting", reason: "retry", error: "503", active: "build", iteration: 1 });
    const dispatch = story.state.open?.eventId;
    story.when(own("built")).thenVoid("suspended").when(own("model")).thenVoid("suspended").when(own("retry", { attempt: 2 })).thenVoid("suspended");
    story.wait(3000).given(fired("retry"));
    expect(story.state.open?.eventId).toBe(dispatch);
    expect(story.status).toMatchObject({ attempt: 2, disposition: "running", budget: { iterations: { spent: 0, reserved: 1 } } });
    expect(nextDerived(story.state)).toBeNull();
    story.given(own("built"));
  });
  it("goes on by a claim where its owner is gone", () => {
    retrying().wait(3000).given(fired("retry"), claim("X"), own("built"), owed());
  });
  it("still holds who claims while it is armed", () => {
    retrying().given(claim("X")).when(own("built")).thenVoid("suspended").wait(3000).given(fired("retry"), own("built"));
  });
  it("is given up by cycle_failed alone, which disarms it", () => {
    const story = retrying();
    const late = written(story, fired("retry"));
    story.given(own("cycle_failed", { class: "transient", terminal: true }));
    expect(story.status.reason).toBe("retries_exhausted");
    story.wait(5000).when(late).thenVoid("after_end");
  });
  it("is disarmed by the close of its dispatch", () => {
    const story = retrying();
    const late = written(story, fired("retry"));
    story.given(own("cycle_failed")).wait(5000).when(late).thenVoid("not_armed");
    expect(nextDue(story.state)).toBeNull();
  });
  it("keeps settling possible, and what only informs", () => {
    const story = begin([...toBuild(), asks("k"), own("retry")]);
    story.given(own("error"), own("tool_result", { key: "k" })).given(own("handed_back"));
  });
  it("counts from one, one after another, up to the policy's bound", () => {
    const story = begin(toBuild({ bounds: { retryAttempts: 2 } }));
    story.when(own("retry", { attempt: 0 as never })).thenVoid("malformed").when(own("retry", { attempt: 2 })).thenVoid("forbidden");
    story.given(own("retry", { attempt: 1 })).wait(3000).given(fired("retry")).when(own("retry", { attempt: 1 })).thenVoid("forbidden");
    story.given(own("retry", { attempt: 2 })).wait(3000).given(fired("retry")).when(own("retry", { attempt: 3 })).thenVoid("forbidden");
  });
  it("is not for what is deterministic", () => {
    begin(toBuild()).when(own("retry", { errorClass: "deterministic" })).thenVoid("forbidden").given(own("retry", { errorClass: "ambiguous" }));
  });
  it("counts anew in the next dispatch", () => {
    retrying().wait(3000).given(fired("retry"), own("built"), owed(), own("retry", { attempt: 1, operation: "check" }));
  });
});

describe("an inconclusive check", () => {
  it("is tried again on a timer that owes the review, a bounded number of times", () => {
    const story = begin([...toReview({ bounds: { checkTries: 3 } }), inconclusive()]);
    expect(story.status).toMatchObject({ disposition: "waiting", reason: "retry", leaves: [{ status: "unverified" }] });
    expect(nextDerived(story.state)).toBeNull();
    expect(decidedAt(story)).toBe(1000);
    story.wait(1500).given(fired("check"), owed(), inconclusive());
    expect(decidedAt(story)).toBe(2000);
    story.wait(2500).given(fired("check"), owed(), inconclusive());
    expect(story.status).toMatchObject({ disposition: "handed_off", reason: "check_unavailable", leaves: [{ passes: false }] });
  });
  it("costs no iteration, and a sure verdict starts the count again", () => {
    const story = begin([...toReview({ bounds: { checkTries: 2 } }), inconclusive()]).wait(1500).given(fired("check"), owed(), fails(), owed(), own("built"), owed(), inconclusive());
    expect(story.status).toMatchObject({ disposition: "waiting", reason: "retry", iteration: 2 });
  });
  it("before any work keeps the first check owed", () => {
    const story = begin([...toFirstCheck(), inconclusive()]).wait(1500).given(fired("check"));
    expect(story.state.owed?.content).toMatchObject({ cycle: "review", iteration: 0 });
    story.given(owed(), fails());
    expect(story.state.owed?.content).toMatchObject({ cycle: "build", iteration: 1 });
  });
  it("its timer is disarmed by an end", () => {
    const story = begin([...toReview(), inconclusive()]);
    const late = written(story, fired("check"));
    story.given(person("cancel_requested")).wait(5000).when(late).thenVoid("after_end");
    expect(nextDue(story.state)).toBeNull();
  });
  it("its timer fires while paused, and the review waits for resume", () => {
    const story = begin([...toReview(), inconclusive(), person("pause_requested")]).wait(1500).given(fired("check")).when(owed()).thenVoid("suspended");
    story.given(person("resumed"), owed(), passes(), owed());
  });
});

function decidedAt(story: { readonly state: Parameters<typeof nextDue>[0]; readonly entries: readonly { readonly time: number }[] }): number {
  return (nextDue(story.state) ?? 0) - (story.entries.at(-1)?.time ?? 0);
}

describe("an approval's expiry", () => {
  const asked = (expires: number | null) => begin([...toBuild(), own("approval_requested", { expires })]);
  it("is armed by the request, and fires into the hand-off", () => {
    const story = asked(60);
    expect(story.status.waitingOn).toMatchObject([{ kind: "approval", id: "cp-1", expires: "2030-01-01T00:01:00.040Z" }]);
    story.wait(61_000).given(fired("approval"));
    expect(story.status).toMatchObject({ disposition: "handed_off", reason: "approval_expired" });
  });
  it("no expiry means that it waits", () => {
    expect(nextDue(asked(null).state)).toBeNull();
  });
  it("is disarmed by the decision, but not by PAUSE", () => {
    const story = asked(60);
    story.given(person("approval_decided", { decision: "PAUSE" }));
    expect(nextDue(story.state)).not.toBeNull();
    const late = written(story, fired("approval"));
    story.given(person("approval_decided")).wait(61_000).when(late).thenVoid("not_armed");
  });
  it("fires also in the unknown, and takes effect when that is settled", () => {
    const story = begin([...toBuild(), own("approval_requested", { expires: 60 }), asks("k", { contract: "unsafe" }), claim("X")]).wait(61_000).given(fired("approval"));
    expect(story.status.reason).toBe("incomplete_tool_turn");
    story.given(person("reconciled", { key: "k" }));
    expect(story.status).toMatchObject({ disposition: "handed_off", reason: "approval_expired" });
  });
  it("an answer that comes after it is too late, also once the session was resumed", () => {
    const story = asked(1).wait(2000).given(fired("approval")).when(person("approval_decided")).thenVoid("after_end");
    story.given(person("resumed")).when(person("approval_decided")).thenVoid("not_owed").when(person("approval_decided", { decision: "REJECT" })).thenVoid("not_owed");
  });
  it("of a policy's checkpoint is armed by the request on the ledger, not by what calls for it", () => {
    const story = begin([...toReview({ goal: { policy: { approvals: [{ everyIterations: 1, expiresSeconds: 60 }] } } }), fails()]);
    expect(nextDue(story.state)).toBeNull();
    expect(nextDue(story.given(requested()).state)).not.toBeNull();
  });
});
