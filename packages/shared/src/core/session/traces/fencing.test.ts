/**
 * Shortest histories in which a fold without one rule goes wrong, found by searching a model of the rule: fencing and ownership.
 * Each is fed in the same order of records to the fold, which gives the verdicts that hold the rule up.
 */
import { describe, expect, it } from "vitest";
import { type Story, asks, begin, claim, dispatchAhead, foldAll, foldWithout, own, ownerRecords, owed, passes, person, submit, toBuild, toReview, written } from "../../../testing/index.ts";
import { decide } from "../decide.ts";

const dispatched = () => begin([submit({}, { failureFirst: false }), owed()]);
const openOf = (story: Story) => story.state.open?.eventId as never;
const intent = (story: Story, ownerId: string, epoch: number) => written(story, asks("k1", {}, { ownerId: ownerId as never, epoch: epoch as never, n: 1 }));
const review = { cycle: "review", leaf: "goal", iteration: 1, task: "Make the test pass" } as const;

describe("left out: the epoch in the fold", () => {
  it("an intent that its sender wrote before it was taken over is stale; without the fence it would count", () => {
    const story = dispatched().given(claim("P"));
    const late = intent(story, "P", 1);
    story.given(claim("Q")).when(late).thenVoid("stale_epoch");
    expect(foldAll(story.entries, { fold: foldWithout("fence") }).verdicts.at(-1)?.kind).toBe("accepted");
  });
});

describe("left out: acting only on what was read back", () => {
  it("of two owners that both believe themselves current, one intent alone is accepted: who waits for the verdict acts once", () => {
    const story = dispatched().given(claim("P"));
    const p = intent(story, "P", 1);
    story.given(claim("Q"));
    const q = intent(story, "Q", 2);
    story.when(p).thenVoid("stale_epoch").when(q).thenAccepted();
    expect(story.state.unsettled).toEqual(["k1"]);
  });
});

describe("left out: an owner id of its own for every process start", () => {
  it("a restarted process that claims from an old view is a rival, not the owner", () => {
    const story = dispatched().given(claim("P.0"), asks("k1"));
    story.when(claim("P.1", { epoch: 1 })).thenVoid("rival").when(asks("k1", {}, { ownerId: "P.1" as never, n: 2 })).thenVoid("rival");
  });
  it("of two processes under one id the second one's claim and intent are duplicates, never a second acceptance", () => {
    const story = dispatched().given(claim("W"), asks("k1")).when(claim("W", { epoch: 1 })).thenVoid("duplicate");
    story.when(intent(story, "W", 1)).thenVoid("duplicate");
  });
  it("intents whose ids follow from their key: the accepted one has other bytes than the one that is refused", () => {
    const story = dispatched().given(claim("P"));
    const p = { ...intent(story, "P", 1), eventId: "intent.k1" as never };
    story.given(claim("Q"));
    const q = { ...intent(story, "Q", 2), eventId: "intent.k1" as never };
    story.when(q).thenAccepted();
    const accepted = story.entries.at(-1)?.text;
    story.when(p).thenVoid("stale_epoch");
    expect(story.entries.at(-1)?.text).not.toBe(accepted);
  });
});

describe("left out: who dropped a session claims the next epoch", () => {
  it("an owner that lost its memory does not go on in its epoch: its own claim finds the unsafe effect unknown", () => {
    const story = dispatched().given(claim("P"), asks("k1", { contract: "unsafe" }));
    const seat = { ownerId: "P" as never, serves: ["build", "review"] as const, carries: false, ownerIs: "live" as const };
    expect(decide(story.state, seat)).toMatchObject({ do: "claim" });
    story.given(claim("P"));
    expect(story.status.reason).toBe("incomplete_tool_turn");
  });
  it("a live owner that dropped the session is not waited for by itself, and an old claim of another is a rival", () => {
    const story = dispatched().given(claim("P")).when(claim("Q", { epoch: 1 })).thenVoid("rival");
    story.given(claim("P"), own("built"), owed(), passes(), owed());
    expect(story.status.disposition).toBe("done");
  });
  it("after a reordering the owner that saw its record void goes on under its next epoch", () => {
    const story = begin([...toBuild({ owner: "P" }), asks("k1"), own("tool_result", { key: "k1" })]);
    const p = ownerRecords({ ownerId: "P", epoch: 1, dispatch: openOf(story), n: 2 });
    const [model, built] = [p.next("model"), p.next("built")];
    story.when(built).thenVoid("gap").when(dispatchAhead(built.eventId, review)).thenVoid("not_owed").when(model).thenAccepted();
    story.given(claim("P"), own("built"), owed(), passes(), owed());
    expect(story.status).toMatchObject({ disposition: "done", takeovers: 0 });
  });
});

describe("left out: an owner holds only the cycles that it serves", () => {
  it("the worker of the build lets go of the review, and a checker claims it", () => {
    const story = dispatched().given(claim("W", { serves: ["build"] }), asks("k1"), own("tool_result", { key: "k1" }), own("built"), owed());
    expect(decide(story.state, { ownerId: "W" as never, serves: ["build"], carries: true, ownerIs: "live" })).toMatchObject({ do: "wait" });
    story.given(claim("C", { serves: ["review"] }), passes(), owed());
    expect(story.status.disposition).toBe("done");
  });
});

describe("left out: owner records name the open dispatch, and their type fits its cycle", () => {
  it("an intent of a child that was left over from the build is void in the review under the kept epoch", () => {
    const story = begin([...toBuild({ owner: "P" }), asks("k1"), own("tool_result", { key: "k1" })]);
    const build = story.state.open?.eventId as never;
    story.given(own("built"), owed()).when(asks("kx")).thenVoid("wrong_cycle").when(asks("kx", { dispatch: build }, { cause: build })).thenVoid("not_owed");
  });
});

describe("left out: the approval comes before the intent", () => {
  it("a takeover while an approval is pending finds nothing unknown", () => {
    const goal = { policy: { approvals: [{ before: "deploy" }] } };
    const story = begin([...toBuild({ goal, owner: "P" })]).when(asks("k1", { contract: "unsafe" })).thenVoid("forbidden");
    story.given(own("approval_requested"), claim("Q"));
    expect(story.status).toMatchObject({ disposition: "waiting", reason: "approval" });
  });
});

describe("left out: what a fenced-off owner reserved counts as spent", () => {
  const reserved = own("reserved", { id: "r1", amounts: { costUsd: 1 } });
  it("released at the takeover it could be spent twice; so it is not released", () => {
    const story = begin([...toBuild({ goal: { budget: { costUsd: 2 } }, owner: "P" }), reserved, own("model", { usage: { costUsd: 1, reservation: "r1" } }), own("reserved", { id: "r2", amounts: { costUsd: 1 } }), claim("Q")]);
    story.when(own("reserved", { id: "r3", amounts: { costUsd: 1 } })).thenVoid("suspended");
    expect(story.status.budget.costUsd).toEqual({ limit: 2, reserved: 0, spent: 2, remaining: 0 });
  });
  it("and it is not left reserved for ever", () => {
    expect(begin([...toBuild({ owner: "P" }), reserved, claim("Q")]).status.budget.costUsd).toMatchObject({ reserved: 0, spent: 1 });
  });
});

describe("the first in the log", () => {
  it("is who goes on, whatever the order of the rest", () => {
    const story = begin(toReview({ owner: "P" }));
    const rivals = ["Q", "R", "S"].map((name) => written(story, claim(name)));
    story.when(rivals[1] as never).thenAccepted().when(rivals[0] as never).thenVoid("rival").when(rivals[2] as never).thenVoid("rival").when(person("guidance")).thenAccepted();
  });
});
