import { describe, expect, it } from "vitest";
import { asks, begin, claim, own, owed, passes, person, toBuild, toReview } from "../../testing/index.ts";
import { lookUp } from "./persistent-map.ts";

const effectOf = (story: { readonly status: { readonly effects: readonly { readonly key: string; readonly state: string }[] } }, key = "k") =>
  story.status.effects.find((one) => one.key === key)?.state;

describe("an intent and its outcome", () => {
  it("shows as intended, then as what its target says", () => {
    const story = begin([...toBuild(), asks("k")]);
    expect(effectOf(story)).toBe("intended");
    expect(effectOf(story.given(own("tool_result", { key: "k" })))).toBe("confirmed");
    story.given(asks("l"), own("tool_result", { key: "l", outcome: "failed" }));
    expect(effectOf(story, "l")).toBe("failed");
    expect(story.state.unsettled).toEqual([]);
  });
  it("no build, no failure and no end while it is unsettled", () => {
    const story = begin([...toBuild(), asks("k")]);
    story.when(own("built")).thenVoid("suspended").when(own("cycle_failed")).thenVoid("suspended")
      .when(own("status", { disposition: "waiting", reason: "handler_missing", error: null })).thenVoid("suspended");
  });
  it("a read-only call leaves nothing unsettled and may be asked again", () => {
    begin([...toBuild(), asks("k", { contract: "none" }), asks("k", { contract: "none" }), own("tool_result", { key: "k" }), asks("k", { contract: "none" }), own("built")]);
  });
  it("under one key there is one action", () => {
    const story = begin([...toBuild(), asks("k"), own("tool_result", { key: "k" })]);
    story.when(asks("k")).thenVoid("duplicate").when(asks("k", { args: { to: "elsewhere" } })).thenVoid("key_conflict")
      .when(asks("k", { tool: "other" })).thenVoid("key_conflict");
  });
  it("what the target says did not happen may be asked again under its key", () => {
    const story = begin([...toBuild(), asks("k"), own("tool_result", { key: "k", outcome: "failed" }), asks("k"), own("tool_result", { key: "k" })]);
    expect(effectOf(story)).toBe("confirmed");
    expect(story.state.work["goal"]?.settled).toHaveLength(1);
  });
  it("an outcome is accepted once, for a key that was asked for", () => {
    begin([...toBuild(), asks("k")]).when(own("tool_result", { key: "z" })).thenVoid("not_owed")
      .given(own("tool_result", { key: "k" })).when(own("tool_result", { key: "k" })).thenVoid("duplicate");
  });
  it("names the open dispatch, its leaf and its iteration", () => {
    begin(toBuild()).when(asks("k", { dispatch: "other" as never })).thenVoid("not_owed").when(asks("k", { leaf: "other" })).thenVoid("malformed")
      .when(asks("k", { iteration: 7 })).thenVoid("malformed").given(asks("k"));
  });
  it("its own owner may call a model meanwhile", () => {
    begin([...toBuild(), asks("k"), own("model"), own("tool_result", { key: "k" })]);
  });
  it("several may be open at a time, settled in any order", () => {
    const story = begin([...toBuild(), asks("a"), asks("b"), own("tool_result", { key: "b" })]);
    expect(story.state.unsettled).toEqual(["a"]);
    story.when(own("built")).thenVoid("suspended").given(own("tool_result", { key: "a" }), own("built"));
  });
});

describe("a later owner", () => {
  const takenOver = (contract: "idempotent" | "lookup", more: Parameters<typeof asks>[1] = {}) => begin([...toBuild(), asks("k", { contract, ...more }), claim("X")]);
  it("finds the outcome unknown and asks for nothing before it is settled", () => {
    const story = takenOver("lookup");
    expect(effectOf(story)).toBe("unknown");
    story.when(asks("l")).thenVoid("suspended").when(own("model")).thenVoid("suspended").when(own("built")).thenVoid("suspended");
    story.given(own("reconciled", { key: "k" }), own("model"), asks("l"));
  });
  it("calls an idempotent effect again under its key and records what the target returns", () => {
    const story = takenOver("idempotent").given(own("tool_result", { key: "k", result: "first" }));
    expect(lookUp(story.state.effects, "k")).toMatchObject({ settled: "confirmed", result: "first" });
  });
  it("does not record an outcome of another contract without a look", () => {
    takenOver("lookup").when(own("tool_result", { key: "k" })).thenVoid("not_owed");
  });
  it("nobody concludes from a look that an idempotent effect did not happen while its owner may call it again: its target lets that call through", () => {
    const looked = person("reconciled", { key: "k", outcome: "did_not_happen" });
    takenOver("idempotent", { fences: true, callWindowSeconds: 60 }).when(looked).thenVoid("not_owed").wait(61_000).given(looked);
    takenOver("lookup", { fences: true, callWindowSeconds: 60 }).given(looked);
    const gaveUp = own("status", { disposition: "failed", reason: "incomplete_tool_turn", error: "no answer" });
    takenOver("idempotent", { fences: true, callWindowSeconds: 60 }).given(gaveUp).when(looked).thenVoid("not_owed").wait(61_000).given(looked);
  });
  it("concludes that an idempotent effect did not happen only after the call window, behind a fence too: what refused may be a proxy that the fence never met", () => {
    for (const fences of [true, false]) {
      const story = takenOver("idempotent", { fences }).when(own("tool_result", { key: "k", outcome: "failed" })).thenVoid("not_owed");
      story.wait(60_000).given(own("tool_result", { key: "k", outcome: "failed" }));
    }
  });
  it("the former owner's late outcome is stale", () => {
    const story = begin([...toBuild(), asks("k")]);
    const late = { ownerId: "W" as never, epoch: 1 as never, n: 2 };
    story.given(claim("X")).when(own("tool_result", { key: "k" }, late)).thenVoid("stale_epoch");
  });
});

describe("reconciled by the owner", () => {
  const looked = (more: Parameters<typeof asks>[1] = {}) => begin([...toBuild(), asks("k", more), claim("X")]);
  it("names intent and key", () => {
    looked().when(own("reconciled", { key: "k", intent: "other" as never })).thenVoid("not_owed").when(own("reconciled", { key: "z" })).thenVoid("not_owed")
      .given(own("reconciled", { key: "k" })).when(own("reconciled", { key: "k" })).thenVoid("not_owed");
  });
  it("did_not_happen names the current epoch, higher than the intent's, and a target that fences", () => {
    looked({ fences: true }).when(own("reconciled", { key: "k", outcome: "did_not_happen", epoch: 1 as never })).thenVoid("stale_epoch")
      .given(own("reconciled", { key: "k", outcome: "did_not_happen" }));
  });
  it("did_not_happen in the intent's own epoch fences nothing: the owner claims the next one first", () => {
    const story = begin([...toBuild(), asks("k", { fences: true })]).when(own("reconciled", { key: "k", outcome: "did_not_happen" })).thenVoid("not_owed");
    story.given(claim("W"), own("reconciled", { key: "k", outcome: "did_not_happen" }), asks("k"), own("tool_result", { key: "k" }), own("built"));
    expect(story.status.takeovers).toBe(0);
  });
  it("without a fence it waits until the call window is over, counted from the later of intent and last claim", () => {
    const story = begin([...toBuild(), asks("k", { fences: false, callWindowSeconds: 60 })]).wait(50_000).given(claim("X"));
    const claimedAt = story.entries.at(-1)?.time ?? 0;
    story.when(own("reconciled", { key: "k", outcome: "did_not_happen" }), { time: (claimedAt + 15_000) as never }).thenVoid("not_owed");
    story.when(own("reconciled", { key: "k", outcome: "did_not_happen" }), { time: (claimedAt + 60_000) as never }).thenVoid("not_owed");
    story.when(own("reconciled", { key: "k", outcome: "did_not_happen" }), { time: (claimedAt + 60_001) as never }).thenAccepted();
  });
  it("an intent that is later than the last claim starts the window itself", () => {
    const story = begin(toBuild()).wait(300_000).given(asks("k", { fences: false, callWindowSeconds: 60 })).wait(59_000).when(own("reconciled", { key: "k", outcome: "did_not_happen" })).thenVoid("not_owed");
    story.wait(1000).given(own("reconciled", { key: "k", outcome: "did_not_happen" }));
  });
  it("after the window the owner may conclude in the intent's own epoch too", () => {
    begin([...toBuild(), asks("k", { fences: false, callWindowSeconds: 1 })]).wait(2000).given(own("reconciled", { key: "k", outcome: "did_not_happen" }));
  });
  it("happened counts at once, and its result is handed to the next run", () => {
    const story = looked({ fences: false }).given(own("reconciled", { key: "k", result: { id: 9 } }));
    expect(story.state.work["goal"]?.settled).toMatchObject([{ key: "k", result: { id: 9 } }]);
  });
});

describe("reconciled by a person", () => {
  it("counts only while that effect is unknown", () => {
    const story = begin([...toBuild(), asks("k")]).when(person("reconciled", { key: "k" })).thenVoid("not_owed");
    story.given(claim("X"), person("reconciled", { key: "k" }));
    expect(story.status.owner?.id).toBe("X");
    story.given(own("built"));
  });
  it("did_not_happen from a look that is older than a takeover does not count", () => {
    const story = begin([...toBuild(), asks("k"), claim("X"), claim("Y")]);
    story.when(person("reconciled", { key: "k", outcome: "did_not_happen", epoch: 2 as never })).thenVoid("stale_epoch")
      .given(person("reconciled", { key: "k", outcome: "did_not_happen", epoch: 3 as never }));
  });
  it("did_not_happen needs the fence or the window like anybody's", () => {
    begin([...toBuild(), asks("k", { fences: false }), claim("X")]).when(person("reconciled", { key: "k", outcome: "did_not_happen" })).thenVoid("not_owed")
      .wait(60_000).given(person("reconciled", { key: "k", outcome: "did_not_happen" }));
  });
  it("is a person's word: a worker writes it only under its epoch", () => {
    const record = own("reconciled", { key: "k" }, { epoch: undefined, ownerId: undefined, n: undefined });
    begin([...toBuild(), asks("k"), claim("X")]).when(record).thenVoid("forbidden");
  });
});

describe("nothing unsettled reaches a review", () => {
  it("a check finds every effect settled", () => {
    expect(begin([...toBuild(), asks("k"), own("tool_result", { key: "k" }), own("built"), owed(), passes(), owed()]).status.disposition).toBe("done");
    expect(begin(toReview()).state.unsettled).toEqual([]);
  });
});
