import { describe, expect, test } from "vitest";
import { type Act, Story, asks, begin, claim, fails, inconclusive, foldAll, own, owed, passes, person, reported, requested, sha256, submit, testSession, toBuild, toFirstCheck, toReview,  } from "../../testing/index.ts";
import { budgetOf } from "../budget/budget.ts";
import type { Digest, Seq } from "../brand.ts";
import { canonicalJson } from "../json.ts";
import { type Explanation, explain } from "./explain.ts";
import { values } from "./persistent-map.ts";
import { quoted } from "../shell-word.ts";
import { statusOf } from "./status.ts";

const asked = (story: Story, options: { at?: number; owner?: "live" | "gone" } = {}): Explanation =>
  explain(story.entries, { sessionId: testSession, sha256, ...(options.at !== undefined && { at: options.at as Seq }), look: () => options.owner ?? "unknown" });
const seqs = (explanation: Explanation): Record<string, number> =>
  Object.fromEntries(Object.entries(explanation.answers).map(([question, one]) => [question, (one as { seq: number }).seq]));

const red = (): Act => fails({ evidence: { exitCode: 1, output: "ok 1\nexpected 3, got 4\n" } });
const toReceipt: Act[] = [...toReview(), passes(), owed()];

describe("the answers", () => {
  test("each rests on the record that last changed it", () => {
    const story = begin([...toBuild(), asks("deploy:1"), own("tool_result", { key: "deploy:1" }), own("built"), owed(), fails({ next_steps: ["mend the sum"] })]);
    const explanation = asked(story);
    // 1 goal_submitted, 2 dispatched, 3 claimed, 4 tool_requested, 5 tool_result, 6 built, 7 dispatched, 8 check.
    expect(seqs(explanation)).toEqual({ goal: 1, steps: 8, effects: 5, evidence: 8, budget: 8, active: 8 });
    expect(explanation.asOf).toBe(8);
    expect(explanation.answers.active.answer).toBe(false);
    expect(explanation.answers.evidence.answer).toMatchObject({ verdict: "FAIL", next_steps: ["mend the sum"] });
    expect(explanation.answers.steps.answer.map((leaf) => [leaf.id, leaf.passes])).toEqual([["goal", false]]);
  });

  test("asked at a seq, they are those of that moment: like the fold of the records up to there", () => {
    const story = begin(toReceipt);
    for (let at = 1; at <= story.state.seq; at++) {
      const explanation = asked(story, { at });
      const then = foldAll(story.entries.slice(0, at)).state;
      const status = statusOf(then);
      expect(explanation.asOf).toBe(at);
      expect(canonicalJson(explanation.answers.budget.answer)).toBe(canonicalJson(budgetOf(then)));
      expect(canonicalJson(explanation.answers.steps.answer)).toBe(canonicalJson(status.leaves));
      expect(explanation.answers.active.answer).toBe(status.active !== null);
      for (const seq of Object.values(seqs(explanation))) expect(seq).toBeGreaterThan(0);
      for (const seq of Object.values(seqs(explanation))) expect(seq).toBeLessThanOrEqual(at);
    }
  });

  test("a refused record changes none of them", () => {
    const story = begin(toBuild());
    const before = asked(story);
    story.when(claim("rival", { epoch: 1 })).thenVoid("rival");
    expect(asked(story)).toEqual(before);
  });

  test("an effect that an earlier epoch asked for is unknown, and that rests on the claim", () => {
    const story = begin([...toBuild(), asks("deploy:1"), claim("X")]);
    const { effects } = asked(story).answers;
    expect(effects.answer).toMatchObject([{ key: "deploy:1", state: "unknown" }]);
    expect(effects.seq).toBe(5);
    expect(effects.text).toBe("unknown: deploy:1");
  });

  test("the text names the leaves by what became of them", () => {
    const story = begin(toBuild({ goal: { leaves: [{ id: "api", title: "API" }, { id: "ui", title: "UI", after: ["api"] }] } }));
    story.given(own("built"));
    expect(asked(story).answers.steps.text).toBe("built and not checked: api; not begun: ui, goal");
  });
});

describe("why it stands still, and what to type", () => {
  const cases: readonly { name: string; acts: readonly Act[]; why: RegExp; next: string }[] = [
    { name: "done with a receipt", acts: toReceipt, why: /receipt stands at seq 7/, next: "loopledger verify session-1" },
    { name: "green before any work", acts: [...toFirstCheck(), passes()], why: /green before any work/, next: "loopledger events session-1" },
    { name: "cancelled", acts: [...toBuild(), person("cancel_requested")], why: /cancelled/, next: "loopledger events session-1" },
    { name: "paused", acts: [submit(), person("pause_requested")], why: /paused/, next: "loopledger resume session-1" },
    { name: "contradictory verdict", acts: [...toReview(), passes({ next_steps: ["more"] })], why: /contradicted itself/, next: "loopledger resume session-1" },
    {
      name: "a check that could not be run", acts: [...toReview({ bounds: { checkTries: 1 } }), inconclusive({ evidence: { why: "it did not end within 600 s" } })],
      why: /could not be run.*\(it did not end within 600 s\)/, next: "loopledger resume session-1",
    },
    {
      name: "a maker that could not start", acts: [...toBuild(), own("cycle_failed", { terminal: true, code: "cannot_start", message: "the maker could not start: no such program ./nofile.sh" })],
      why: /\(the maker could not start: no such program \.\/nofile\.sh\)/, next: "loopledger resume session-1",
    },
    {
      name: "a session of a run that nobody carries", acts: [submit({ maker: "run/maker", check: "run/check" }), owed()],
      why: /the same `run` line again/, next: "loopledger run GOAL --maker COMMAND --check COMMAND --id session-1",
    },
    {
      name: "the same red again and again", acts: [...toBuild({ bounds: { breakerSame: 2 } }), own("built"), owed(), red(), owed(), own("built"), owed(), red()],
      why: /same failure came back 2 times in a row, and there the breaker stops.*\(expected 3, got 4\)/, next: "loopledger resume session-1",
    },
    { name: "out of iterations", acts: [...toBuild({ bounds: { iterations: 1 } }), own("built"), owed(), fails()], why: /iterations is used up \(1 spent\)/, next: "loopledger budget session-1 --iterations +5" },
    { name: "at a checkpoint", acts: [...toBuild(), person("checkpoint_requested"), requested()], why: /must decide at cp-/, next: "approvals show" },
    { name: "waiting for a retry", acts: [...toBuild(), own("retry", { error: "503" })], why: /tried again at 2030-.*\(503\)/, next: "loopledger wait session-1" },
    { name: "at work", acts: toBuild(), why: /build of iteration 1 is under way/, next: "loopledger logs session-1 --follow" },
    { name: "not claimed", acts: [submit(), owed()], why: /Nobody has claimed it/, next: "loopledger advance session-1" },
    { name: "not dispatched", acts: [submit()], why: /nobody has dispatched/, next: "loopledger advance session-1" },
    {
      name: "a check that was changed", acts: [...toReview(), own("status", { disposition: "waiting", reason: "check_changed", error: "package.json" })],
      why: /package\.json/, next: "loopledger resume session-1  # or, to accept this one: with --accept-check",
    },
  ];
  test.each(cases)("$name", ({ acts, why, next }) => {
    const explanation = asked(begin(acts));
    expect(explanation.why).toMatch(why);
    expect(explanation.next).toContain(next);
  });

  test("an unknown outcome names every open call, and the time until which a late one can arrive", () => {
    const story = begin([
      ...toBuild(), asks("mail:ann's", { tool: "mail", contract: "unsafe", callWindowSeconds: 60 }), asks("mail:bob", { tool: "mail", contract: "unsafe" }),
      claim("X"), reported(),
    ]);
    const explanation = asked(story);
    expect(explanation.reason).toBe("incomplete_tool_turn");
    expect(explanation.why).toContain("2 calls were asked for");
    expect(explanation.why).toContain("mail:ann's");
    expect(explanation.why).toContain("mail:bob");
    expect(explanation.why).toMatch(/until 2030-\d\d-\d\dT/);
    expect(explanation.next).toBe("loopledger reconcile session-1 'mail:ann'\\''s' --happened --evidence TEXT  # or: --did-not-happen --evidence TEXT");
  });

  test("a dead owner is told, where the caller could look", () => {
    const story = begin(toBuild());
    expect(asked(story, { owner: "gone" })).toMatchObject({ next: "loopledger advance session-1", why: expect.stringContaining("is gone") });
    expect(asked(story, { owner: "gone" }).answers.active.text).toMatch(/^no: its process is gone; the next one goes on/);
  });

  test("a rejection is final, and a new session is the way on", () => {
    const story = begin([...toBuild(), person("checkpoint_requested"), requested()]);
    const [checkpoint] = values(story.state.checkpoints);
    story.given(person("approval_decided", { checkpoint: checkpoint?.id ?? "", decision: "REJECT", digest: checkpoint?.digest as Digest }));
    expect(asked(story)).toMatchObject({ reason: "approval_rejected", next: "loopledger submit FILE --id NEW-ID" });
  });

  test("a record of an unknown kind holds the session, and the release is named as the way on", () => {
    const story = begin([submit()]);
    story.appendText(JSON.stringify({ ...JSON.parse(story.entries[0]?.text ?? "{}"), eventId: "later", type: "teleported" })).thenHeld();
    expect(asked(story)).toMatchObject({ reason: "unknown_schema", why: expect.stringContaining("type teleported") });
  });

  test("a session without a goal says so", () => {
    expect(asked(new Story())).toMatchObject({ asOf: 0, why: expect.stringContaining("No goal") });
  });
});

test("words for a shell are quoted only where they must be", () => {
  expect(["deploy:production:067138a", "two words", "it's", ""].map(quoted)).toEqual(["deploy:production:067138a", "'two words'", "'it'\\''s'", "''"]);
});
