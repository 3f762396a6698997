import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Guard, type Move, Story, Watch, entryOf, foldAll, foldWithout, goodMoves, makeMove, moveNames, randomOf, recordOfDraft, sha256, submit, walkGoals } from "../../testing/index.ts";
import { canonicalJson } from "../json.ts";
import { isLastOwed, nextDerived } from "./derive.ts";
import { evolve } from "./evolve.ts";
import { standingOf, statusOf } from "./status.ts";

const move = (names: readonly Move["name"][]): fc.Arbitrary<Move> => fc.record({ name: fc.constantFrom(...names), a: fc.nat(200), b: fc.nat(200) });
const moves = fc.array(fc.oneof({ weight: 4, arbitrary: move(goodMoves) }, { weight: 1, arbitrary: move(moveNames) }), { minLength: 30, maxLength: 120, size: "max" });
const goals = fc.constantFrom(...walkGoals);

function walked(goal: (typeof walkGoals)[number], list: readonly Move[], options: { guard?: Guard } = {}): { story: Story; watch: Watch } {
  const story = new Story(options.guard ? { fold: foldWithout(options.guard) } : {});
  const watch = new Watch();
  story.append(submit(goal));
  watch.look(story);
  for (const one of list) {
    const seen = story.entries.length;
    const states = [story.state];
    makeMove(story, one);
    if (story.entries.length === seen + 1) watch.look(story);
    else for (const [i, entry] of story.entries.slice(seen).entries()) {
      const { state: after, verdicts } = foldAll([entry], { from: states[i] as never, ...(options.guard ? { fold: foldWithout(options.guard) } : {}) });
      watch.judge({ before: states[i] as never, after, entry, verdict: verdicts[0] as never });
      states.push(after);
    }
  }
  return { story, watch };
}

describe("whatever is written into the log", () => {
  it("nothing throws and every rule that can be seen from outside holds", () => {
    fc.assert(fc.property(goals, moves, (goal, list) => {
      expect(walked(goal, list).watch.breaches).toEqual([]);
    }), { numRuns: 250 });
  });

  it("what comes last in a batch is accepted where it is owed, and nothing is owed behind it", () => {
    let met = 0;
    fc.assert(fc.property(goals, moves, (goal, list) => {
      const story = new Story().append(submit(goal));
      for (const one of list) {
        makeMove(story, one);
        const owed = nextDerived(story.state);
        if (!owed || !isLastOwed(story.state, owed)) continue;
        met++;
        const { state, verdicts } = foldAll([entryOf(recordOfDraft(owed), { time: story.clock.next() })], { from: story.state });
        expect(verdicts[0]?.kind).toBe("accepted");
        expect(nextDerived(state)).toBeNull();
      }
    }), { numRuns: 150 });
    expect(met).toBeGreaterThan(100);
  });

  it("walks get far: they reach every disposition and many a void reason", () => {
    const seen = new Set<string>();
    for (let seed = 0; seed < 300; seed++) {
      const random = randomOf(seed);
      const list = Array.from({ length: 80 }, (): Move => ({ name: random.chance(0.85) ? random.pick(goodMoves) : random.pick(moveNames), a: random.below(200), b: random.below(200) }));
      const story = new Story().append(submit(random.pick(walkGoals)));
      for (const one of list) {
        makeMove(story, one);
        seen.add(standingOf(story.state).disposition);
      }
      for (const word of story.words) seen.add(word);
    }
    const reached = ["done", "handed_off", "failed", "cancelled", "waiting", "running", "accepted"];
    const refused = ["stale_epoch", "rival", "duplicate", "gap", "malformed", "forbidden", "not_owed", "wrong_cycle", "not_armed", "suspended", "after_end", "key_conflict"];
    expect([...seen]).toEqual(expect.arrayContaining([...reached, ...refused.map((reason) => `void(${reason})`)]));
  });

  it.each(["fence", "dedupe"] as const)("a fold without its %s is caught", (guard) => {
    const found = fc.check(fc.property(goals, moves, (goal, list) => walked(goal, list, { guard }).watch.breaches.length === 0), { numRuns: 200, seed: 7 });
    expect(found.failed).toBe(true);
  });
});

describe("replay", () => {
  it("in any chunking, through snapshots, any number of times, is byte-equal in state, verdicts and status", () => {
    fc.assert(fc.property(goals, moves, fc.array(fc.nat(40), { minLength: 1, maxLength: 10 }), (goal, list, sizes) => {
      const { story } = walked(goal, list);
      const whole = foldAll(story.entries);
      expect(canonicalJson(whole.state)).toBe(canonicalJson(story.state));
      let state = new Story().state;
      const verdicts = [];
      for (let at = 0, i = 0; at < story.entries.length; i++) {
        const size = 1 + (sizes[i % sizes.length] ?? 0);
        const part = foldAll(story.entries.slice(at, at + size), { from: JSON.parse(JSON.stringify(state)) });
        state = part.state;
        verdicts.push(...part.verdicts);
        at += size;
      }
      expect(canonicalJson(state)).toBe(canonicalJson(whole.state));
      expect(verdicts).toEqual(whole.verdicts);
      expect(canonicalJson(statusOf(state))).toBe(canonicalJson(statusOf(whole.state)));
    }), { numRuns: 100 });
  });

  it("with every void record left out gives the same state but for the void counts and what was held", () => {
    fc.assert(fc.property(goals, moves, (goal, list) => {
      const { story } = walked(goal, list);
      const kept = story.entries.filter((_, i) => story.verdicts[i]?.kind === "accepted");
      const alone = foldAll(kept);
      expect(alone.verdicts.every((verdict) => verdict.kind === "accepted")).toBe(true);
      expect(canonicalJson({ ...alone.state, void: {}, hold: null })).toBe(canonicalJson({ ...story.state, void: {}, hold: null }));
    }), { numRuns: 100 });
  });

  it("with everything sent twice changes nothing but the void counts", () => {
    fc.assert(fc.property(goals, moves, (goal, list) => {
      const { story } = walked(goal, list);
      let state = new Story().state;
      for (const entry of story.entries) {
        const first = evolve(state, entry, sha256);
        const second = evolve(first.state, entry, sha256);
        expect(second.verdict.kind).not.toBe("accepted");
        state = first.state;
      }
    }), { numRuns: 50 });
  });
});
