import { describe, expect, it } from "vitest";
import { type Act, Story, asks, begin, claim, fails, inconclusive, own, owed, passes, person, recordOf, reported, submit, toBuild, toFirstCheck, toReview } from "../../testing/index.ts";
import { canonicalJson } from "../json.ts";
import { statusOf } from "./status.ts";

type Row = readonly [disposition: string, reason: string | null, acts: readonly Act[]];
const suspended = (reason: "handler_missing" | "check_changed" | "evidence_missing"): Act[] => [...toBuild(), own("status", { disposition: "waiting", reason, error: null })];
const child: Act = fails({ next_steps: [{ goal: { goal: "part", maker: "agent", check: "tests" } }] });
const repeatedly = (bounds: object, failure: Act): Act[] => [...toBuild({ bounds }), failure];
const rows: readonly Row[] = [
  ["running", null, [submit()]],
  ["running", null, toBuild()],
  ["waiting", "approval", [...toBuild(), own("approval_requested")]],
  ["waiting", "retry", [...toBuild(), own("retry")]],
  ["waiting", "retry", [...toReview(), inconclusive()]],
  ["waiting", "children", [...toReview(), child, owed()]],
  ["waiting", "budget_exhausted", [...toReview({ bounds: { iterations: 1 } }), fails()]],
  ["waiting", "evidence_missing", suspended("evidence_missing")],
  ["waiting", "handler_missing", suspended("handler_missing")],
  ["waiting", "check_changed", suspended("check_changed")],
  ["waiting", "paused", [submit(), person("pause_requested")]],
  ["handed_off", "contradictory_verdict", [...toReview(), fails({ next_steps: [] })]],
  ["handed_off", "check_unavailable", [...toReview({ bounds: { checkTries: 1 } }), inconclusive()]],
  ["handed_off", "no_progress", [...toReview({ bounds: { breakerSame: 2 } }), fails(), owed(), own("built"), owed(), fails()]],
  ["handed_off", "deterministic_error", repeatedly({}, own("cycle_failed", { terminal: true }))],
  ["handed_off", "retries_exhausted", repeatedly({}, own("cycle_failed", { terminal: true, class: "transient" }))],
  ["handed_off", "takeover_limit", repeatedly({ takeovers: 1 }, claim("X"))],
  ["handed_off", "approval_rejected", [...toBuild(), own("approval_requested"), person("approval_decided", { decision: "REJECT" }, "boss")]],
  ["failed", "incomplete_tool_turn", [...toBuild(), asks("k", { contract: "unsafe" }), claim("X")]],
  ["done", null, [...toReview(), passes(), owed()]],
  ["done", "no_mutation_owed", [...toFirstCheck(), passes()]],
  ["cancelled", "cancelled", [submit(), person("cancel_requested")]],
];

describe("the disposition and its reason", () => {
  it.each(rows)("%s (%s)", (disposition, reason, acts) => {
    const { status } = begin(acts);
    expect(status).toMatchObject({ disposition, reason });
    const over = disposition !== "running" && disposition !== "waiting";
    expect(status.endedAt === null).toBe(!over);
    expect(status.waitingOn.length > 0).toBe(disposition === "waiting" || disposition === "failed");
  });
  it("the report of an end changes neither", () => {
    for (const [disposition, reason, acts] of rows) {
      const story = begin(acts);
      if (story.state.statusOwed) expect(story.given(reported()).status).toMatchObject({ disposition, reason });
    }
  });
});

describe("the view", () => {
  it("of a session that nobody has submitted is empty and has no end", () => {
    expect(new Story().status).toMatchObject({ goal: null, disposition: "running", asOf: 0, leaves: [], effects: [], budget: { iterations: { limit: null } }, createdAt: null, endedAt: null });
  });
  it("has exactly the members of the surface", () => {
    expect(Object.keys(begin(toBuild()).status)).toEqual([
      "sessionId", "goal", "disposition", "reason", "error", "asOf", "position", "epoch", "owner", "active", "iteration", "task", "leaves", "effects", "verdict",
      "budget", "waitingOn", "children", "receipt", "void", "attempt", "takeovers", "labels", "parent", "createdAt", "at", "endedAt",
    ]);
  });
  it("is plain JSON: it reads back as it was written", () => {
    const story = begin([...toBuild({ goal: { labels: { team: "web" } } }), asks("k"), own("tool_result", { key: "k" }), own("built"), owed(), fails(), person("pause_requested")]).when(claim("Z")).when(owed());
    expect(JSON.parse(JSON.stringify(story.status))).toEqual(story.status);
    expect(story.status).toMatchObject({ labels: { team: "web" }, void: { not_owed: 1, suspended: 1 }, createdAt: "2030-01-01T00:00:00.010Z" });
  });
  it("is the same from a state that went through a snapshot", () => {
    const { state } = begin([...toBuild(), asks("k"), own("approval_requested")]);
    expect(canonicalJson(statusOf(JSON.parse(JSON.stringify(state))))).toBe(canonicalJson(statusOf(state)));
  });
  it("names the parent of a child", () => {
    const data = recordOf("goal_submitted").data;
    expect(new Story().given(recordOf("goal_submitted", { ...data, parent: { sessionId: "mother" as never, depth: 1 } })).status.parent).toBe("mother");
  });
  it("shows effects in the order in which they were asked for, whatever their keys", () => {
    const keys = ["z", "10", "a", "9", "constructor"];
    const story = begin(toBuild());
    for (const key of keys) story.given(asks(key));
    expect(story.status.effects.map((effect) => effect.key)).toEqual(keys);
    expect(story.status.effects.map((effect) => effect.seq)).toEqual([4, 5, 6, 7, 8]);
  });
  it("as_of counts accepted records only, and the position is the last accepted one's", () => {
    const story = begin(toBuild()).when(claim("X", { epoch: 1 })).when(claim("Y", { epoch: 1 }));
    expect(story.status).toMatchObject({ asOf: 3, position: { partition: 0, offset: 2 }, void: { rival: 2 } });
  });
});
