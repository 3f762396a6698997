import { describe, expect, it } from "vitest";
import { asks, begin, claim, own, person, requested, toBuild, toReview } from "../../testing/index.ts";

const poor = (budget: { costUsd?: number; tokens?: number } = { costUsd: 1 }) => toBuild({ goal: { budget } });
const spends = (costUsd: number, over: object = {}) => own("model", { usage: { costUsd, ...over } });

describe("once cost or tokens are spent to the last", () => {
  it.each([
    ["no intent", asks("k")], ["no model call", spends(0.1)], ["no model call that costs nothing", own("model")], ["no reservation", own("reserved", { id: "r", amounts: { costUsd: 0.1 } })],
    ["no reservation of nothing", own("reserved", { id: "r", amounts: {} })],
  ])("%s is accepted", (_what, act) => {
    begin([...poor(), spends(1)]).when(act).thenVoid("suspended").given(person("budget_raised", { costUsd: 1 }), act);
    begin([...poor({ tokens: 10 }), own("model", { usage: { tokensIn: 8, tokensOut: 3 } })]).when(act).thenVoid("suspended");
  });
  it("what was begun before is settled: a call, and a model call that was reserved", () => {
    const story = begin([...poor(), own("reserved", { id: "r", amounts: { costUsd: 0.4 } }), asks("k"), spends(1)]);
    story.given(own("tool_result", { key: "k" }), spends(0.2, { reservation: "r" })).when(spends(0.2, { reservation: "r" })).thenVoid("suspended");
    expect(story.given(own("built")).state.spending.costUsd).toBeCloseTo(1.2);
  });
  it("so it is in a review, whose check may still speak", () => {
    begin([...toReview({ goal: { budget: { costUsd: 1 } } }), spends(1)]).when(spends(0.1)).thenVoid("suspended").given(own("check", { verdict: "FAIL" }));
  });
  it("what is merely set aside holds no call back", () => {
    begin([...poor(), own("reserved", { id: "r", amounts: { costUsd: 1 } })]).given(asks("k"), own("tool_result", { key: "k" }));
  });
});

describe("what a fenced-off owner had set aside is spent", () => {
  const asked = { goal: { policy: { approvals: [{ costUsd: 3 }] } } };
  it("and asks a person where that crosses the cost at which one wants to be asked", () => {
    const story = begin([...toBuild(asked), spends(1), own("reserved", { id: "r", amounts: { costUsd: 2 } }), claim("X")]);
    expect(story.state.pending).toHaveLength(1);
    expect(story.given(requested()).status).toMatchObject({ disposition: "waiting", reason: "approval" });
  });
  it("and asks nobody where it stays below, or where the owner claims for itself", () => {
    expect(begin([...toBuild(asked), own("reserved", { id: "r", amounts: { costUsd: 2 } }), claim("X")]).state.pending).toEqual([]);
    expect(begin([...toBuild(asked), own("reserved", { id: "r", amounts: { costUsd: 4 } }), claim("W")]).state.pending).toEqual([]);
  });
});
