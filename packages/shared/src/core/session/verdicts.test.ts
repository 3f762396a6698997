import { describe, expect, it } from "vitest";
import { actorOf, begin, claim, digestOfText, fails, fired, inconclusive, own, owed, passes, person, toBuild, toFirstCheck, toReview } from "../../testing/index.ts";
import type { Story } from "../../testing/index.ts";
import { standingOf } from "./status.ts";

const standing = (story: Story) => standingOf(story.state);
const again = (story: Story, verdict = fails()) => story.given(owed(), own("built"), owed(), verdict);

describe("what a verdict leads to", () => {
  it("FAIL with a next step: it is the next build's task", () => {
    const story = begin([...toReview(), fails({ next_steps: ["repair the sum", "and more"] })]);
    expect(story.state.owed?.content).toEqual({ cycle: "build", leaf: "goal", iteration: 2, task: "repair the sum" });
    expect(story.status).toMatchObject({ task: "repair the sum", verdict: { verdict: "FAIL", next_steps: ["repair the sum", "and more"], revision: "r1", seq: 6 }, leaves: [{ status: "needs-rework" }] });
  });
  it.each([["FAIL without a next step", fails({ next_steps: [] })], ["PASS with one", passes({ next_steps: ["more"] })]])("%s contradicts itself and hands off", (_name, verdict) => {
    const story = begin([...toReview(), verdict]);
    expect(standing(story)).toMatchObject({ disposition: "handed_off", reason: "contradictory_verdict" });
    expect(story.state.owed).toBeNull();
    expect(story.status.leaves).toMatchObject([{ status: "unverified", passes: false }]);
  });
  it("PASS verifies the leaf", () => {
    expect(begin([...toReview(), passes()]).status.leaves).toMatchObject([{ status: "verified", passes: true }]);
  });
  it("INCONCLUSIVE is never a pass", () => {
    expect(begin([...toReview(), inconclusive()]).status.leaves).toMatchObject([{ status: "unverified" }]);
  });
  it("a PASS while an observation has a gap counts as none, until the gap is closed", () => {
    const gap = own("grounding", { scope: "issues", outcome: "stale" });
    const story = begin([...toReview(), gap, passes()]);
    expect(standing(story)).toMatchObject({ disposition: "waiting", reason: "retry" });
    expect(story.status.leaves).toMatchObject([{ passes: false }]);
    story.wait(2000).given(fired("check"), owed(), own("grounding", { scope: "issues", outcome: "observed" }), passes(), owed());
    expect(standing(story).disposition).toBe("done");
  });
});

describe("which check counts", () => {
  it("the one that the leaf calls for", () => {
    begin(toReview()).when(passes({ check: "another" })).thenVoid("forbidden");
  });
  it("under the digest of the first accepted check", () => {
    const story = begin([...toReview(), fails(), owed(), own("built"), owed()]).when(passes({ checkDigest: digestOfText("changed") })).thenVoid("forbidden");
    story.given(passes(), owed());
    expect(story.status.receipt?.check.digest).toBe(digestOfText("check"));
  });
  it("a changed check suspends, and counts from the record that accepts it", () => {
    const changed = own("status", { disposition: "waiting", reason: "check_changed", error: "tests", detail: { check: "tests", found: digestOfText("changed"), pinned: ["a.ts"] } });
    const story = begin([...toReview(), fails(), owed(), own("built"), owed(), changed]);
    expect(standing(story)).toMatchObject({ disposition: "waiting", reason: "check_changed", error: "tests" });
    const refused = begin([...toReview(), fails(), owed(), own("built"), owed(), changed, person("resumed")]);
    refused.given(claim("X")).when(passes({ checkDigest: digestOfText("changed") })).thenVoid("forbidden");
    story.given(person("resumed", { acceptCheck: true }), claim("X"), passes({ checkDigest: digestOfText("changed") }), owed());
    expect(story.status.receipt?.check.digest).toBe(digestOfText("changed"));
  });
  it("what an owner says of a changed check is accepted only where it names check and digest", () => {
    const vague = (detail: never) => own("status", { disposition: "waiting", reason: "check_changed", error: "tests", detail });
    for (const detail of [null, {}, { check: "tests" }, { found: digestOfText("changed") }, { check: 3, found: digestOfText("changed") }]) {
      const story = begin([...toReview(), fails(), owed(), own("built"), owed(), vague(detail as never), person("resumed", { acceptCheck: true })]);
      expect(story.state.pins).toEqual({ tests: { digest: digestOfText("check"), pinned: ["package.json"] } });
    }
  });
  it("of another principal than the maker", () => {
    const sameHand = { actor: actorOf("checker", "agent@sha256:1") };
    begin(toReview()).when(own("check", { verdict: "PASS", next_steps: [] }, sameHand)).thenVoid("forbidden");
  });
});

describe("failure first", () => {
  it("red: the work begins, with the check's own next step as the task of a goal without a tree", () => {
    const story = begin([...toFirstCheck(), fails({ next_steps: ["start here"] })]);
    expect(story.state.owed?.content).toEqual({ cycle: "build", leaf: "goal", iteration: 1, task: "start here" });
    expect(story.status).toMatchObject({ iteration: 0, budget: { iterations: { spent: 0, reserved: 0 } } });
  });
  it("red with a goal as its next step: the goal's own title stays the task", () => {
    const story = begin([...toFirstCheck(), fails({ next_steps: [{ goal: { goal: "part", maker: "agent", check: "tests" } }] })]);
    expect(story.state.owed?.content).toMatchObject({ cycle: "build", task: "Make the test pass" });
  });
  it("green: done without work, every leaf shown as verified, no receipt", () => {
    const story = begin([...toFirstCheck({ goal: { leaves: [{ id: "a", title: "A" }] } }), passes()]);
    expect(story.status).toMatchObject({ disposition: "done", reason: "no_mutation_owed", receipt: null, leaves: [{ passes: true }, { passes: true }] });
  });
  it("contradictory: hands off, and every leaf is still open", () => {
    expect(begin([...toFirstCheck(), fails({ next_steps: [] })]).status).toMatchObject({ reason: "contradictory_verdict", leaves: [{ status: "open" }] });
  });
  it("a gap before any work is no pass either", () => {
    expect(standing(begin([...toFirstCheck(), own("grounding", { outcome: "failed" }), passes()]))).toMatchObject({ disposition: "waiting" });
  });
  it("strict asks for the check first just as well", () => {
    expect(begin(toFirstCheck({ bounds: { failureFirst: "strict" } })).status.active).toBe("review");
  });
});

describe("the breaker, from the record", () => {
  it("hands off after the same failure k times in a row", () => {
    const story = again(begin([...toReview(), fails({ evidence: {} })]), fails({ evidence: {} }));
    expect(standing(story).disposition).toBe("running");
    expect(standing(again(story, fails({ evidence: {} })))).toMatchObject({ disposition: "handed_off", reason: "no_progress" });
  });
  it("hands off on A, B, A, B", () => {
    const [a, b] = [fails({ next_steps: ["a"], evidence: {} }), fails({ next_steps: ["b"], evidence: {} })];
    const story = again(again(begin([...toReview(), a]), b), a);
    expect(standing(story).disposition).toBe("running");
    expect(standing(again(story, b)).reason).toBe("no_progress");
  });
  it("goes on while what remains falls", () => {
    let story = begin([...toReview(), fails({ evidence: { remaining: 9 } })]);
    for (let remaining = 8; remaining > 0; remaining--) story = again(story, fails({ evidence: { remaining } }));
    expect(standing(story).disposition).toBe("running");
    expect(standing(again(again(story, fails({ evidence: { remaining: 1 } })), fails({ evidence: { remaining: 1 } }))).reason).toBe("no_progress");
  });
  it("compares fingerprints where the checker gives them", () => {
    const story = begin([...toReview({ bounds: { breakerSame: 2 } }), fails({ next_steps: ["one"], fingerprint: "f", evidence: {} })]);
    expect(standing(again(story, fails({ next_steps: ["two"], fingerprint: "f", evidence: {} }))).reason).toBe("no_progress");
  });
  it("is switched off by null", () => {
    let story = begin([...toReview({ bounds: { breakerSame: null, iterations: null } }), fails({ evidence: {} })]);
    for (let i = 0; i < 6; i++) story = again(story, fails({ evidence: {} }));
    expect(standing(story).disposition).toBe("running");
  });
  it("counts failed attempts of a maker: same task again, an iteration each, then deterministic_error", () => {
    const story = begin([...toBuild(), own("cycle_failed")]);
    expect(story.state.owed?.content).toEqual({ cycle: "build", leaf: "goal", iteration: 2, task: "Make the test pass" });
    story.given(owed(), own("cycle_failed"));
    expect(standing(story).disposition).toBe("running");
    story.given(owed(), own("cycle_failed"));
    expect(standing(story)).toMatchObject({ disposition: "handed_off", reason: "deterministic_error" });
    expect(story.status.budget.iterations.spent).toBe(3);
  });
  it("a build in between starts the count of failed attempts again", () => {
    const story = begin([...toBuild({ bounds: { breakerSame: 2 } }), own("cycle_failed"), owed(), own("built"), owed(), fails(), owed(), own("cycle_failed")]);
    expect(standing(story).disposition).toBe("running");
  });
  it("a terminal failure hands off at once, by its class", () => {
    expect(standing(begin([...toBuild(), own("cycle_failed", { terminal: true })])).reason).toBe("deterministic_error");
    expect(standing(begin([...toBuild(), own("cycle_failed", { terminal: true, class: "gate" })])).reason).toBe("deterministic_error");
    expect(standing(begin([...toBuild(), own("cycle_failed", { terminal: true, class: "transient" })])).reason).toBe("retries_exhausted");
  });
  it("a failed cycle names the open dispatch", () => {
    begin(toBuild()).when(own("cycle_failed", { dispatch: "other" as never })).thenVoid("not_owed");
  });
  it("a review that failed is owed again and costs no iteration", () => {
    const story = begin([...toReview(), own("cycle_failed")]);
    expect(story.state.owed?.content).toMatchObject({ cycle: "review", iteration: 1 });
  });
});
