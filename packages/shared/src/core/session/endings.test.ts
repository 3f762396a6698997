import { describe, expect, it } from "vitest";
import { asks, begin, claim, dispatchAhead, fails, fired, own, owed, passes, person, reported, requested, scheduler, submit, toBuild, toFirstCheck, toReview, written } from "../../testing/index.ts";
import { values } from "./persistent-map.ts";
import { nextDerived } from "./derive.ts";

const cancelled = { disposition: "cancelled", reason: "cancelled" } as const;

describe("cancel", () => {
  it("ends at once where nothing is unsettled, also with a cycle open", () => {
    const story = begin([...toBuild(), person("cancel_requested")]);
    expect(story.status).toMatchObject({ ...cancelled, owner: null, active: null });
    story.when(own("built", {}, { ownerId: "W" as never })).thenVoid("after_end").when(claim("X", { dispatch: "d" as never })).thenVoid("after_end");
  });
  it("over an unsettled effect stops new intents and dispatches, and takes effect when it is settled", () => {
    const story = begin([...toBuild(), asks("k"), person("cancel_requested")]);
    expect(story.status.disposition).toBe("running");
    story.when(asks("l")).thenVoid("suspended").given(own("tool_result", { key: "k" }));
    expect(story.status).toMatchObject({ ...cancelled, effects: [{ state: "confirmed" }] });
  });
  it("over an unsettled effect leaves it claimable, so that somebody can settle it", () => {
    expect(begin([...toBuild(), asks("k"), person("cancel_requested"), claim("X"), own("reconciled", { key: "k", outcome: "did_not_happen" })]).status).toMatchObject(cancelled);
  });
  it("asked for twice is a duplicate, after the end void", () => {
    const story = begin([...toBuild(), asks("k"), person("cancel_requested")]).when(person("cancel_requested")).thenVoid("duplicate");
    story.given(own("tool_result", { key: "k" })).when(person("cancel_requested")).thenVoid("after_end").when(person("resumed")).thenVoid("after_end");
  });
  it("comes from a person or, for a child, from the scheduler", () => {
    expect(begin([submit(), scheduler("cancel_requested")]).status).toMatchObject(cancelled);
  });
});

describe("rejection and expiry", () => {
  const rejecting = [person("checkpoint_requested"), requested(), asks("k")];
  const reject = () => person("approval_decided", { decision: "REJECT" });
  const answered = (decision: "REJECT" | "APPROVE") => (story: Parameters<typeof written>[0]) => {
    const [id] = story.state.pending;
    const digest = values(story.state.checkpoints).find((one) => one.id === id)?.digest;
    return written(story, person("approval_decided", { checkpoint: id as never, decision, digest: digest as never }));
  };
  it("end at once where nothing is unsettled, for good", () => {
    const story = begin([...toBuild(), own("approval_requested"), reject()]);
    expect(story.status).toMatchObject({ disposition: "handed_off", reason: "approval_rejected" });
    story.when(person("resumed")).thenVoid("after_end");
  });
  it("wait over an unsettled effect, stop new dispatches and intents, and take effect when it is settled", () => {
    const story = begin([...toBuild(), ...rejecting, answered("REJECT")]);
    expect(story.status.disposition).toBe("running");
    story.when(asks("l")).thenVoid("suspended").given(own("tool_result", { key: "k" }));
    expect(story.status).toMatchObject({ disposition: "handed_off", reason: "approval_rejected" });
  });
  it("give way to a cancel", () => {
    expect(begin([...toBuild(), ...rejecting, answered("REJECT"), person("cancel_requested"), own("tool_result", { key: "k" })]).status).toMatchObject(cancelled);
    expect(begin([...toBuild(), ...rejecting, person("cancel_requested"), answered("REJECT"), own("tool_result", { key: "k" })]).status).toMatchObject(cancelled);
  });
  it("an expired one is re-opened by resume, unlike a rejected one", () => {
    const story = begin([...toBuild(), own("approval_requested", { expires: 1 })]).wait(2000).given(fired("approval"), person("resumed"));
    expect(story.status.disposition).toBe("running");
    story.given(owed(), claim("X"));
  });
});

describe("an end", () => {
  it("is derived at the record that brings it; what was written ahead for it is void", () => {
    const story = begin([...toReview({ bounds: { breakerSame: 2 } }), fails(), owed(), own("built"), owed()]);
    const check = written(story, fails());
    story.given(check).when(dispatchAhead(check.eventId, { cycle: "build", leaf: "goal", iteration: 3, task: "repair the sum" })).thenVoid("after_end").given(reported());
    expect(story.status).toMatchObject({ disposition: "handed_off", reason: "no_progress" });
  });
  it("is over once: acts after it are void", () => {
    const story = begin([...toReview(), passes(), owed(), reported()]);
    for (const type of ["pause_requested", "guidance", "budget_raised", "checkpoint_requested", "approval_decided"] as const) story.when(person(type)).thenVoid("after_end");
    story.when(scheduler("tick")).thenVoid("after_end").when(person("resumed")).thenVoid("after_end");
  });
});

describe("re-opening what was handed off", () => {
  const contradictory = () => begin([...toReview(), passes({ next_steps: ["but"] })]);
  it("resumed is itself the cause of what the tree calls for; the owed status is dropped", () => {
    const story = contradictory();
    const resumed = written(story, person("resumed"));
    story.given(resumed);
    expect(story.status).toMatchObject({ disposition: "running", reason: null, endedAt: null, owner: null });
    expect(story.state.statusOwed).toBeNull();
    expect(nextDerived(story.state)).toMatchObject({ type: "dispatched", cause: resumed.eventId, data: { cycle: "review" } });
    story.given(owed(), claim("X"), passes(), owed());
    expect(story.status.disposition).toBe("done");
  });
  it("has a fresh breaker window and the same budget", () => {
    const story = begin([...toReview({ bounds: { breakerSame: 2 } }), fails(), owed(), own("built"), owed(), fails(), person("resumed")]);
    expect(story.status.budget.iterations).toMatchObject({ spent: 2, remaining: 18 });
    story.given(owed(), claim("X"), own("built"), owed(), fails());
    expect(story.status.disposition).toBe("running");
  });
  it("before any work owes the first check again", () => {
    const story = begin([...toFirstCheck({ bounds: { takeovers: 1 } }), claim("X"), person("resumed")]);
    expect(story.state.owed?.content).toMatchObject({ cycle: "review", iteration: 0 });
  });
  it("after the last PASS, where its receipt was never written, runs the goal's check again", () => {
    const policy = { approvals: [{ onPlanComplete: true as const, expiresSeconds: 1 }] };
    const story = begin([...toReview({ goal: { policy } }), passes(), requested()]).wait(2000).given(fired("approval"));
    expect(story.status.reason).toBe("approval_expired");
    story.given(person("resumed"), owed(), claim("X"));
    expect(story.status).toMatchObject({ active: "review", leaves: [{ passes: false }] });
  });
  it("its own id is used once", () => {
    const story = contradictory();
    const resumed = written(story, person("resumed"));
    story.given(resumed, owed(), claim("X"), passes({ next_steps: ["but"] })).when(resumed).thenVoid("duplicate").given(person("resumed"));
  });
});
