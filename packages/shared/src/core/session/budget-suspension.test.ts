import { describe, expect, it } from "vitest";
import { begin, claim, own, person, toBuild } from "../../testing/index.ts";
import { decide } from "./decide.ts";
import { standstill } from "./standstill.ts";

const suspended = () => begin([...toBuild(), own("status", {
  disposition: "waiting", reason: "budget_exhausted", error: "A reservation of 500 tokens does not fit into what is left of the budget", detail: { tokens: 500 },
})]);
const seat = { ownerId: "X" as never, serves: ["build", "review"] as const, carries: false, ownerIs: "live" } as const;

describe("a reservation that does not fit", () => {
  it("has the session wait for its budget: nobody claims, nobody goes on", () => {
    const story = suspended();
    expect(story.status).toMatchObject({ disposition: "waiting", reason: "budget_exhausted", owner: null, waitingOn: [{ kind: "budget" }] });
    story.when(claim("X")).thenVoid("suspended");
    expect(decide(story.state, seat)).toMatchObject({ do: "wait", on: "budget" });
  });
  it("is lifted by a raise and not by resuming", () => {
    const story = suspended();
    story.when(person("resumed")).thenVoid("not_owed").given(person("budget_raised", { tokens: 500 }));
    expect(story.status).toMatchObject({ disposition: "running", reason: null });
    expect(decide(story.state, seat)).toMatchObject({ do: "claim" });
  });
  it("stays where a pause is resumed", () => {
    const story = suspended().given(person("pause_requested", { now: false }), person("resumed"));
    expect(story.status).toMatchObject({ disposition: "waiting", reason: "budget_exhausted" });
  });
  it("says what does not fit and the next command", () => {
    expect(standstill(suspended().state, "unknown")).toMatchObject({ next: expect.stringMatching(/^loopledger budget .+ --tokens \+500$/) });
  });
});
