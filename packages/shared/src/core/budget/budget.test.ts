import { describe, expect, it } from "vitest";
import { asks, begin, claim, fails, fired, own, owed, passes, person, toBuild, toFirstCheck, toReview } from "../../testing/index.ts";
import type { Story } from "../../testing/index.ts";
import { budgetOf, exhaustedFor, spentToTheLast } from "./budget.ts";

const budget = (story: Story) => budgetOf(story.state);
const ms = (story: Story) => story.state.spending.runningMs;

describe("iterations", () => {
  it("are reserved by the build's dispatch and spent with its end, once over all takeovers and retries", () => {
    const story = begin(toBuild());
    expect(budget(story).iterations).toEqual({ limit: 20, reserved: 1, spent: 0, remaining: 19 });
    story.given(claim("X"), claim("Y"), own("retry")).wait(3000).given(fired("retry"), own("handed_back"), claim("Z"));
    expect(budget(story).iterations).toEqual({ limit: 20, reserved: 1, spent: 0, remaining: 19 });
    story.given(own("built"), owed(), passes());
    expect(budget(story).iterations).toEqual({ limit: 20, reserved: 0, spent: 1, remaining: 19 });
  });
  it("the first check costs none", () => {
    expect(budget(begin([...toFirstCheck(), fails()])).iterations).toEqual({ limit: 20, reserved: 0, spent: 0, remaining: 20 });
  });
  it("a failed attempt counts as one", () => {
    expect(budget(begin([...toBuild(), own("cycle_failed"), owed()])).iterations).toMatchObject({ reserved: 1, spent: 1 });
  });
  it("without a limit there is nothing that remains or runs out", () => {
    const story = begin(toBuild({ goal: { budget: { iterations: null, wallSeconds: null } } }));
    expect(budget(story).iterations).toEqual({ limit: null, reserved: 1, spent: 0, remaining: null });
    expect(exhaustedFor(story.state, "build")).toBeNull();
  });
  it("a raise adds to the ceiling, and what is then used up waits again", () => {
    const story = begin(toBuild({ bounds: { iterations: 1, breakerSame: null } })).given(person("budget_raised", { iterations: 2 }), own("built"), owed(), fails(), owed(), own("built"), owed(), fails(), owed(), own("built"), owed(), fails());
    expect(story.status).toMatchObject({ disposition: "waiting", reason: "budget_exhausted", waitingOn: [{ kind: "budget" }] });
    story.when(owed()).thenVoid("suspended");
  });
});

describe("cost and tokens", () => {
  const costly = { goal: { budget: { costUsd: 5, tokens: 1000 } } };
  it("are reserved before the spend, settled by the record that names the reservation", () => {
    const story = begin([...toBuild(costly), own("reserved", { id: "r", amounts: { costUsd: 2, tokens: 300 } })]);
    expect(budget(story)).toMatchObject({ costUsd: { limit: 5, reserved: 2, spent: 0, remaining: 3 }, tokens: { reserved: 300, remaining: 700 } });
    story.given(own("model", { usage: { costUsd: 0.5, tokensIn: 200, tokensOut: 50, reservation: "r" } }));
    expect(budget(story)).toMatchObject({ costUsd: { reserved: 0, spent: 0.5, remaining: 4.5 }, tokens: { reserved: 0, spent: 250, remaining: 750 } });
  });
  it("more than remains is not reserved, nor twice under one id", () => {
    begin([...toBuild(costly), own("reserved", { id: "r", amounts: { costUsd: 4 } })]).when(own("reserved", { id: "r", amounts: {} })).thenVoid("duplicate")
      .when(own("reserved", { id: "s", amounts: { costUsd: 1.5 } })).thenVoid("suspended").when(own("reserved", { id: "s", amounts: { tokens: 1001 } })).thenVoid("suspended")
      .given(own("reserved", { id: "s", amounts: { costUsd: 1 } }));
  });
  it("what a fenced-off owner reserved counts as spent; the owner's own next claim keeps it", () => {
    const story = begin([...toBuild(costly), own("reserved", { id: "r", amounts: { costUsd: 2, tokens: 10 } }), claim("W")]);
    expect(budget(story).costUsd).toMatchObject({ reserved: 2, spent: 0 });
    story.given(claim("X"));
    expect(budget(story)).toMatchObject({ costUsd: { reserved: 0, spent: 2 }, tokens: { reserved: 0, spent: 10 } });
  });
  it("used up they hold the next build, and a review still goes", () => {
    const story = begin([...toBuild(costly), own("built", { usage: { costUsd: 5 } }), owed(), fails()]).when(owed()).thenVoid("suspended");
    expect(exhaustedFor(story.state, "build")).toBe("costUsd");
    expect(story.status.reason).toBe("budget_exhausted");
    story.given(person("budget_raised", { costUsd: 1 }), owed());
  });
  it("are counted from builds, checks and failed cycles", () => {
    const usage = { costUsd: 1, tokensIn: 1, tokensOut: 1 };
    const story = begin([...toBuild(), own("built", { usage }), owed(), fails({ usage }), owed(), own("cycle_failed", { usage })]);
    expect(budget(story)).toMatchObject({ costUsd: { spent: 3 }, tokens: { spent: 6 } });
  });
});

describe("running time", () => {
  it("counts from a claim to the last record of its epoch", () => {
    const story = begin(toBuild());
    story.wait(1000).given(own("error"));
    expect(ms(story)).toBe(1010);
    story.wait(1000).given(own("error"));
    expect(ms(story)).toBe(2020);
  });
  it("downtime between a last record and the next claim does not count", () => {
    const story = begin([...toBuild(), own("error")]).wait(3_600_000).given(claim("X"));
    const before = ms(story);
    story.given(own("error"));
    expect(ms(story) - before).toBe(10);
    story.given(own("handed_back"));
    expect(story.state.spending.runningSince).toBeNull();
    const handedBack = ms(story);
    story.wait(3_600_000).given(claim("X"), own("error"));
    expect(ms(story) - handedBack).toBe(10);
  });
  it("waiting does not count: for a dispatch, a retry, a person", () => {
    const story = begin([...toBuild(), own("retry", { delay_seconds: 100 })]);
    const before = ms(story);
    story.wait(100_000).given(fired("retry"), own("built"));
    expect(ms(story) - before).toBe(10);
    story.wait(50_000).given(owed());
    story.given(passes());
    expect(ms(story) - before).toBe(20);
  });
  it("counts up to the record that ends the session", () => {
    const story = begin(toReview());
    const before = ms(story);
    story.wait(500).given(passes({ next_steps: ["contradiction"] }));
    expect(ms(story) - before).toBe(510);
    expect(story.state.spending.runningSince).toBeNull();
  });
  it("used up it holds builds and reviews", () => {
    const story = begin(toBuild({ bounds: { wallSeconds: 1 } })).wait(2000).given(own("built")).when(owed()).thenVoid("suspended");
    expect(story.status.reason).toBe("budget_exhausted");
    story.given(person("budget_raised", { wallSeconds: 60 }), owed());
    expect(exhaustedFor(story.state, "review")).toBeNull();
  });
  it("goes on over an unknown outcome only with the next claim", () => {
    const story = begin([...toBuild(), asks("k", { contract: "unsafe" }), claim("X")]);
    expect(story.state.spending.runningSince).toBeNull();
    story.wait(1000).given(person("reconciled", { key: "k" }), claim("Y"));
    const before = ms(story);
    expect(ms(story.given(own("error"))) - before).toBe(10);
  });
});

describe("what is spent to the last", () => {
  it("is what a fenced-off owner had reserved too, and no longer after a raise; what is merely reserved is not", () => {
    const story = begin(toBuild({ bounds: { costUsd: 1 } })).given(own("reserved", { id: "r", amounts: { costUsd: 1 } }));
    expect(spentToTheLast(story.state)).toBeNull();
    expect(spentToTheLast(story.given(claim("X")).state)).toBe("costUsd");
    expect(spentToTheLast(story.given(person("budget_raised", { costUsd: 1 })).state)).toBeNull();
  });
  it("is nothing where there is no limit", () => {
    expect(spentToTheLast(begin(toBuild()).state)).toBeNull();
  });
});
