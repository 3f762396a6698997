import { describe, expect, it } from "vitest";
import { Story, begin, entryOf, goalOf, own, owed, person, recordOf, scheduler, submissionOf, submit, toBuild } from "../../testing/index.ts";
import type { SessionId } from "../brand.ts";
import { boundsOf } from "../events/goal.ts";
import { owedDispatch } from "./owed.ts";

describe("the goal", () => {
  it("is accepted once, and the check is owed before any work", () => {
    const { state, status } = begin([submit()]);
    expect(owedDispatch(state)).toEqual({ cycle: "review", leaf: "goal", iteration: 0, task: "Make the test pass" });
    expect(status).toMatchObject({ disposition: "running", asOf: 1, iteration: 0, goal: { text: "Make the test pass" } });
  });
  it("owes a build at once where the policy waives the first check", () => {
    expect(owedDispatch(begin([submit({}, { failureFirst: false })]).state)).toEqual({ cycle: "build", leaf: "goal", iteration: 1, task: "Make the test pass" });
  });
  it("repeated is a duplicate, also under another record id and another client's id for the goal", () => {
    begin([submit()]).when(submit()).thenVoid("duplicate").when(submit({ id: "mine" as SessionId })).thenVoid("duplicate");
  });
  it("another one under the same session id is a conflict", () => {
    begin([submit()]).when(submit({ goal: "Something else" })).thenVoid("key_conflict");
  });
  it("with a digest that is not its own is malformed", () => {
    new Story().when(recordOf("goal_submitted", { ...submissionOf(), digest: submissionOf({ goal: "x" }).digest })).thenVoid("malformed");
  });
  it.each([
    ["leaves that wait for each other", [{ id: "a", title: "A", after: ["b"] }, { id: "b", title: "B", after: ["a"] }]],
    ["a leaf that waits for one that is not there", [{ id: "a", title: "A", after: ["z"] }]],
    ["a leaf id that is used twice", [{ id: "a", title: "A" }, { id: "a", title: "B" }]],
    ["a leaf with the name of the goal", [{ id: "goal", title: "A" }]],
  ])("whose tree has %s is malformed", (_name, leaves) => {
    new Story().when(submit({ leaves })).thenVoid("malformed");
  });
  it("is written by a person, by intake or by the scheduler", () => {
    const written = recordOf("goal_submitted", submissionOf());
    new Story().when({ ...written, actor: { kind: "worker", id: "w" } }).thenVoid("forbidden");
    new Story().when({ ...written, actor: { kind: "scheduler", id: "s" } }).thenAccepted();
  });
  it("comes before everything else", () => {
    new Story()
      .when(person("cancel_requested")).thenVoid("not_owed")
      .when(own("built", {}, { epoch: 1 as never })).thenVoid("not_owed")
      .when(scheduler("tick")).thenVoid("not_owed")
      .when(recordOf("claimed", {}, { epoch: 1 as never, ownerId: "W" as never })).thenVoid("not_owed");
  });
  it("has its bounds written out, so that later defaults never move it", () => {
    expect(boundsOf(goalOf())).toEqual({
      iterations: 20, costUsd: null, tokens: null, wallSeconds: 14_400, failureFirst: true, retryAttempts: 5, breakerSame: 3, checkTries: 3,
      takeovers: 32, children: { depth: 2, width: 5, total: 20 }, fourEyes: false,
    });
    expect(boundsOf(goalOf({
      budget: { iterations: null, costUsd: 5, tokens: 7, wallSeconds: null },
      policy: { failureFirst: "strict", retry: { maxAttempts: 2 }, breaker: { same: null }, children: { depth: 0, width: 1, total: 2 }, fourEyes: true },
    }))).toEqual({
      iterations: null, costUsd: 5, tokens: 7, wallSeconds: null, failureFirst: "strict", retryAttempts: 2, breakerSame: null, checkTries: 3,
      takeovers: 32, children: { depth: 0, width: 1, total: 2 }, fourEyes: true,
    });
  });
});

describe("where a record stands", () => {
  it("a key that is not its session is malformed", () => {
    begin([submit()]).when(person("guidance"), { key: "other" }).thenVoid("malformed");
  });
  it("another session's record is malformed here", () => {
    begin([submit()]).when({ ...recordOf("guidance"), sessionId: "other" as SessionId }).thenVoid("malformed");
  });
  it("another partition than the first record's is malformed", () => {
    begin([submit()]).when(person("guidance"), { partition: 1 }).thenVoid("malformed");
  });
  it("the first record names the home, whichever it is", () => {
    const story = new Story().when(submit(), { partition: 3 }).thenAccepted().when(owed(), { partition: 3 }).thenAccepted();
    expect(story.status.position).toEqual({ partition: 3, offset: 1 });
  });
  it("a bad or missing signature is forbidden, before anything else is looked at", () => {
    begin([submit()]).when(person("guidance"), { verified: "no" }).thenVoid("forbidden");
    begin([submit()]).when({ ...recordOf("guidance"), type: "teleported" as never }, { verified: "no" }).thenVoid("forbidden");
    begin([submit()]).when(person("guidance"), { verified: "yes" }).thenAccepted();
  });
  it("a record of the ledger itself changes no session", () => {
    begin(toBuild()).when(recordOf("ledger_initialised")).thenVoid("malformed");
  });
});

describe("what this release does not know", () => {
  const unknown = { ...recordOf("guidance"), type: "teleported" as never };
  it("holds the session: nothing after it is judged, and status says so", () => {
    const story = begin([submit()]).when(unknown).thenHeld().when(owed()).thenHeld();
    expect(story.status).toMatchObject({ disposition: "waiting", reason: "unknown_schema", error: "type teleported", asOf: 1 });
    expect(story.status.waitingOn).toEqual([{ kind: "schema", id: "type teleported", since: "2030-01-01T00:00:00.020Z", expires: null }]);
  });
  it("a later version and an unknown field hold it too", () => {
    begin([submit()]).when({ ...recordOf("guidance"), typeVersion: 9 }).thenHeld();
    begin([submit()]).when(recordOf("guidance", { colour: "red" } as never)).thenHeld();
  });
  it("later acceptance rules hold it, at submission and when they are raised", () => {
    new Story().when(recordOf("goal_submitted", submissionOf({}, { rules: 2 }))).thenHeld();
    begin([submit()]).when(person("rules_raised", { rules: 2 })).thenHeld();
  });
  it("what is malformed is void and holds nothing", () => {
    begin([submit()]).appendText("{").thenVoid("malformed").appendText('{"a":1}').thenVoid("malformed").given(owed());
  });
  it("a writer that a type does not have is forbidden", () => {
    begin([submit()]).when({ ...recordOf("guidance"), actor: { kind: "scheduler", id: "s" } }).thenVoid("forbidden");
    expect(entryOf(recordOf("guidance")).parsed.kind).toBe("record");
  });
});
