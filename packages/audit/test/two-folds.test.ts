import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "@loopledger/shared/core/json";
import { type Move, Story, goodMoves, makeMove, moveNames, randomOf, submit, walkGoals, wordFor } from "@loopledger/shared/testing";
import { accept, judge, read } from "../src/fold/judge.ts";
import { Session } from "../src/fold/session.ts";
import { statusOf } from "../src/fold/view.ts";

/** A log of valid and hostile records, as the product's fold judged it on the way. */
function walked(seed: number): Story {
  const random = randomOf(seed);
  const story = new Story().append(submit(random.pick(walkGoals)));
  for (let i = 0; i < 90; i++) {
    const move: Move = { name: random.chance(0.85) ? random.pick(goodMoves) : random.pick(moveNames), a: random.below(200), b: random.below(200) };
    makeMove(story, move);
  }
  return story;
}

/** What the audit's fold says of the same entries. */
function audited(story: Story): { readonly words: string[]; readonly status: Record<string, unknown> } {
  const session = new Session(story.state.sessionId);
  const words = story.entries.map(({ partition, offset, time, key, text, verified }) => {
    const entry = { partition, offset, time, key, text, verified };
    const judgement = judge(session, read(entry));
    if (judgement.kind === "accepted") accept({ session, record: judgement.record, entry });
    if (judgement.kind === "held") session.hold ??= { detail: judgement.detail, since: time };
    return judgement.kind === "void" ? `void(${judgement.refusal.reason})` : judgement.kind;
  });
  return { words, status: { ...statusOf(session), void: story.status.void } };
}

/** Everything that can be told apart in a session, whatever it is made of. */
function shown(session: Session): string {
  return inspect(session, { depth: null, showHidden: true, maxArrayLength: null, maxStringLength: null });
}

describe("the audit's fold", () => {
  it("changes nothing by judging, however often; accepting alone takes a record in", () => {
    const verdicts = new Set<string>();
    for (let seed = 1; seed <= 8; seed++) {
      const { state, entries } = walked(seed);
      const session = new Session(state.sessionId);
      for (const { partition, offset, time, key, text, verified } of entries) {
        const entry = { partition, offset, time, key, text, verified };
        const before = shown(session);
        const judgement = judge(session, read(entry));
        expect(judge(session, read(entry))).toEqual(judgement);
        expect(shown(session) === before, `seed ${seed}, offset ${offset}: ${judgement.kind}`).toBe(true);
        verdicts.add(judgement.kind);
        if (judgement.kind !== "accepted") continue;
        accept({ session, record: judgement.record, entry });
        expect(shown(session) === before, `seed ${seed}, offset ${offset}`).toBe(false);
      }
    }
    expect(verdicts).toContain("accepted");
    expect(verdicts).toContain("void");
  });
});

describe("the product's fold and the audit's, which were written apart", () => {
  it("agree on every record's verdict and reason, and on the status, over logs of valid and hostile records", () => {
    const seen = new Set<string>();
    for (let seed = 1; seed <= 150; seed++) {
      const story = walked(seed);
      const theirs = audited(story);
      expect(theirs.words, `seed ${seed}`).toEqual(story.verdicts.map(wordFor));
      expect(canonicalJson(theirs.status), `seed ${seed}`).toBe(canonicalJson(story.status));
      for (const word of theirs.words) seen.add(word);
    }
    expect(seen.size).toBeGreaterThan(10);
  });
});
