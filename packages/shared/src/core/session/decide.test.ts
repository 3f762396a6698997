import { describe, expect, it } from "vitest";
import { type Act, asks, begin, claim, fails, inconclusive, own, owed, passes, person, recordOf, submit, toBuild, toReview } from "../../testing/index.ts";
import type { Cycle } from "../events/fields.ts";
import { type Decision, type Seat, decide } from "./decide.ts";
import { nextDue } from "./derive.ts";

const seat = (over: Partial<Seat> = {}): Seat => ({ ownerId: "W" as never, serves: ["build", "review"] as Cycle[], carries: true, ownerIs: "live", ...over });
const other = (over: Partial<Seat> = {}): Seat => seat({ ownerId: "X" as never, carries: false, ...over });
const dispatched = [submit({}, { failureFirst: false }), owed()];
const shown: Act = own("approval_requested");
const unknownType = { ...recordOf("guidance"), type: "teleported" as never };
const suspended = own("status", { disposition: "waiting", reason: "handler_missing", error: null });

type Row = readonly [name: string, acts: readonly Act[], expects: { readonly from: Seat; readonly decision: Partial<Decision> }];
const rows: readonly Row[] = [
  ["nobody has claimed: claim", dispatched, { from: other(), decision: { do: "claim", cycle: "build" } }],
  ["nobody has claimed, and this process does not run builds: leave it to others", dispatched, { from: other({ serves: ["review"] }), decision: { do: "wait", on: "role" } }],
  ["a live process holds it: wait", toBuild(), { from: other(), decision: { do: "wait", on: "holder" } }],
  ["its process is gone: claim", toBuild(), { from: other({ ownerIs: "gone" }), decision: { do: "claim" } }],
  ["the fold names this process, which does not carry it: claim the next epoch", toBuild(), { from: seat({ carries: false }), decision: { do: "claim" } }],
  ["the owner does not serve the open cycle: claim", [...dispatched, claim("W", { serves: ["build"] }), own("built"), owed()], { from: other(), decision: { do: "claim", cycle: "review" } }],
  ["handed back: claim", [...toBuild(), own("handed_back")], { from: other(), decision: { do: "claim" } }],
  ["carried: run the cycle", toBuild(), { from: seat(), decision: { do: "run", cycle: "build" } }],
  ["carried: run the review", toReview(), { from: seat(), decision: { do: "run", cycle: "review" } }],
  ["carried into a cycle that this process does not run: it is nobody's, and left to others", toReview(), { from: seat({ serves: ["build"] }), decision: { do: "wait", on: "role" } }],
  ["an effect of an earlier epoch: settle first", [...toBuild(), asks("k"), claim("X")], { from: seat({ ownerId: "X" as never }), decision: { do: "settle", keys: ["k"] } }],
  ["an effect of this epoch whose outcome it has lost: claim the next epoch", [...toBuild(), asks("k")], { from: seat(), decision: { do: "claim", cycle: "build" } }],
  ["paused, the open cycle finishes", [...toBuild(), person("pause_requested")], { from: seat(), decision: { do: "run" } }],
  ["paused at once: hand back", [...toBuild(), person("pause_requested", { now: true })], { from: seat(), decision: { do: "hand_back", why: "paused" } }],
  ["paused at once, an effect without an outcome is settled first", [...toBuild(), asks("k"), person("pause_requested", { now: true })], { from: seat(), decision: { do: "claim" } }],
  ["and by the next epoch's owner too", [...toBuild(), asks("k"), person("pause_requested", { now: true }), claim("W")], { from: seat(), decision: { do: "settle" } }],
  ["then the pause is obeyed", [...toBuild(), asks("k"), person("pause_requested", { now: true }), claim("W"), own("reconciled", { key: "k" })], { from: seat(), decision: { do: "hand_back" } }],
  ["paused at once: nobody claims", [...toBuild(), own("handed_back"), person("pause_requested", { now: true })], { from: other(), decision: { do: "wait", on: "person" } }],
  ["paused at once over an unknown effect: somebody settles it", [...toBuild(), asks("k"), own("handed_back"), person("pause_requested", { now: true })], { from: other(), decision: { do: "claim" } }],
  ["an approval is pending: hand back", [...toBuild(), shown], { from: seat(), decision: { do: "hand_back" } }],
  ["an approval is pending: nobody claims", [...toBuild(), shown, own("handed_back")], { from: other(), decision: { do: "wait", on: "person" } }],
  ["approved: perform exactly that", [...toBuild(), shown, person("approval_decided", {}, "boss")], { from: seat(), decision: { do: "perform" } }],
  ["a retry is armed: wait for its timer", [...toBuild(), own("retry")], { from: seat(), decision: { do: "wait", on: "timer" } }],
  ["a retry is armed: nobody claims", [...toBuild(), own("retry"), own("handed_back")], { from: other(), decision: { do: "wait", on: "timer" } }],
  ["a check is tried again later", [...toReview(), inconclusive()], { from: seat(), decision: { do: "wait", on: "timer" } }],
  ["the next dispatch is owed: the schedule's turn", [...toReview(), fails()], { from: seat(), decision: { do: "wait", on: "schedule" } }],
  ["paused between cycles", [...toReview(), person("pause_requested"), fails()], { from: seat(), decision: { do: "wait", on: "person" } }],
  ["out of budget", [...toReview({ bounds: { iterations: 1 } }), fails()], { from: seat(), decision: { do: "wait", on: "budget" } }],
  ["suspended", [...toBuild(), suspended], { from: other(), decision: { do: "wait", on: "person" } }],
  ["an unknown outcome: a person", [...toBuild(), asks("k", { contract: "unsafe" }), claim("X")], { from: other(), decision: { do: "wait", on: "person" } }],
  ["ended", [...toReview(), passes(), owed()], { from: seat(), decision: { do: "over" } }],
];

describe("decide", () => {
  it.each(rows)("%s", (_name, acts, { from, decision }) => {
    expect(decide(begin(acts).state, from)).toMatchObject(decision);
  });
  it("waits for the schema that this release does not know", () => {
    expect(decide(begin(toBuild()).when(unknownType).state, seat())).toEqual({ do: "wait", on: "schema", until: null });
  });
  it("says until when a timer is waited for", () => {
    const { state } = begin([...toBuild(), own("retry")]);
    expect(decide(state, seat())).toEqual({ do: "wait", on: "timer", until: nextDue(state) });
  });
  it.each([
    ["RETRY", { decision: "RETRY" }],
    ["MODIFY to something that is no call", { decision: "MODIFY", action: { task: "smaller" } }],
    ["MODIFY to a bare text", { decision: "MODIFY", action: "tool" }],
    ["MODIFY to nothing", { decision: "MODIFY", action: null }],
  ] as const)("performs nothing after %s", (_name, answer) => {
    expect(decide(begin([...toBuild(), shown, person("approval_decided", answer, "boss")]).state, seat())).toEqual({ do: "run", cycle: "build" });
  });
  it("performs the oldest approved action once, and not in a review", () => {
    const story = begin([...toBuild(), shown, person("approval_decided", {}, "boss")]);
    story.given(asks("deploy:production", { args: { to: "production" }, approval: "cp-1" }), own("tool_result"));
    expect(decide(story.state, seat())).toEqual({ do: "run", cycle: "build" });
    const reviewed = begin([...toBuild(), shown, person("approval_decided", {}, "boss"), own("built"), owed()]);
    expect(decide(reviewed.state, seat())).toEqual({ do: "run", cycle: "review" });
  });
});
