import { describe, expect, it } from "vitest";
import { actorOf, asks, begin, claim, digestOfText, fails, inconclusive, own, ownerRecords, owed, passes, toBuild, toFirstCheck, toReview } from "../../testing/index.ts";
import type { Story } from "../../testing/index.ts";

const openOf = (story: Story) => story.state.open?.eventId as never;

describe("owner records", () => {
  it("are accepted in order, each once", () => {
    const story = begin(toBuild());
    const w = ownerRecords({ ownerId: "W", epoch: 1, dispatch: openOf(story) });
    const [first, second, third] = [w.next("model"), w.next("grounding"), w.next("compaction")];
    story.given(first, second).when(first).thenVoid("duplicate").when(second).thenVoid("duplicate").given(third);
    expect(story.state).toMatchObject({ n: 3, seq: 6 });
  });
  it("sent again because no answer came are void, and use up no number", () => {
    begin(toBuild()).given(own("model")).repeat().thenVoid("duplicate").repeat().thenVoid("duplicate").given(own("model"));
  });
  it("that overtake each other on the way are void(gap), and may come again", () => {
    const story = begin(toBuild());
    const w = ownerRecords({ ownerId: "W", epoch: 1, dispatch: openOf(story) });
    const [first, second] = [w.next("model"), w.next("built")];
    story.when(second).thenVoid("gap").given(first, second);
  });
  it("of a process that was taken over are stale, also where it holds the next number", () => {
    const story = begin([...toBuild(), own("error")]);
    const w = ownerRecords({ ownerId: "W", epoch: 1, dispatch: openOf(story), n: 1 });
    story.given(claim("X")).when(w.next("built")).thenVoid("stale_epoch");
  });
  it("of another process in the same epoch are rival", () => {
    begin(toBuild()).when(own("built", {}, { ownerId: "X" as never })).thenVoid("rival");
  });
  it("lacking a part of the token are malformed", () => {
    begin(toBuild()).when(own("built", {}, { n: undefined })).thenVoid("malformed").when(own("built", {}, { ownerId: undefined })).thenVoid("malformed")
      .when(own("built", {}, { epoch: undefined })).thenVoid("malformed");
  });
  it("serve the dispatch that is open", () => {
    const story = begin(toBuild());
    story.when(own("built", {}, { cause: "another" as never })).thenVoid("not_owed").when(own("built", {}, { cause: undefined })).thenVoid("not_owed");
    const first = openOf(story);
    story.given(own("built")).when(own("error", {}, { cause: first })).thenVoid("not_owed").given(owed())
      .when(own("error", {}, { cause: first })).thenVoid("not_owed");
  });
  it("fit the cycle: no tool and no build in a review, no check in a build", () => {
    begin(toReview()).when(asks("k")).thenVoid("wrong_cycle").when(own("tool_result", { key: "k" })).thenVoid("wrong_cycle")
      .when(own("built")).thenVoid("wrong_cycle").when(own("compaction")).thenVoid("wrong_cycle").when(own("reconciled")).thenVoid("wrong_cycle");
    begin(toBuild()).when(passes()).thenVoid("wrong_cycle").when(fails()).thenVoid("wrong_cycle").when(inconclusive()).thenVoid("wrong_cycle");
  });
  it("after the end are void", () => {
    begin([...toFirstCheck(), passes()]).when(own("error")).thenVoid("after_end");
  });
  it("void ones burn nothing: the same id is accepted where it is due", () => {
    const story = begin(toReview());
    const check = own("check", { verdict: "PASS", next_steps: [] })(story);
    story.when({ ...check, n: check.n === undefined ? 9 : check.n + 1 }).thenVoid("gap").given(check);
  });
  it("of a type that no owner writes are malformed under an epoch", () => {
    begin(toBuild()).when(own("guidance", {}, { actor: actorOf("human") })).thenVoid("malformed")
      .when(own("timer_fired", {}, { actor: actorOf("scheduler") })).thenVoid("malformed").when(own("receipt")).thenVoid("malformed");
  });
});

describe("facts of a cycle", () => {
  it("a named step is recorded once; another input under its name is a conflict", () => {
    const story = begin([...toBuild(), own("step", { name: "plan" })]);
    story.when(own("step", { name: "plan" })).thenVoid("duplicate").when(own("step", { name: "plan", inputDigest: digestOfText("other") })).thenVoid("key_conflict")
      .given(own("step", { name: "constructor" }));
    expect(story.state.work["goal"]?.steps["plan"]?.result).toEqual({ plan: ["one"] });
  });
  it("steps and settled calls of a leaf are kept over takeovers and forgotten with the accepted build", () => {
    const story = begin([...toBuild(), own("step"), asks("k"), own("tool_result", { key: "k", result: 7 }), claim("X")]);
    expect(story.state.work["goal"]?.settled).toMatchObject([{ tool: "deploy", key: "k", result: 7 }]);
    expect(Object.keys(story.state.work["goal"]?.steps ?? {})).toEqual(["plan"]);
    story.given(own("built"));
    expect(story.state.work["goal"]).toEqual({ settled: [], steps: {} });
  });
  it("a gap of an observation stays until a later observation of the same scope is whole", () => {
    const story = begin([...toBuild(), own("grounding", { scope: "issues", outcome: "partial" }), own("grounding", { scope: "other", outcome: "observed" })]);
    expect(story.state.gaps).toEqual({ issues: "partial" });
    story.given(own("grounding", { scope: "issues", outcome: "observed", pagination: { page: 1, pages: 2, complete: false } }));
    expect(story.state.gaps).toEqual({ issues: "observed" });
    story.given(own("grounding", { scope: "issues", outcome: "observed_empty" }));
    expect(story.state.gaps).toEqual({});
  });
  it("errors and compactions inform and change nothing else", () => {
    const story = begin(toBuild());
    const before = story.status;
    story.given(own("error"), own("compaction"));
    expect({ ...story.status, asOf: 0, at: null, position: null, budget: null }).toEqual({ ...before, asOf: 0, at: null, position: null, budget: null });
  });
});
