/** Logs that test folds: seeded walks of well-meaning and hostile writers, short turns, and the planted ledgers, whose rows are in log order but for one. */
import type { DumpRow } from "@loopledger/audit";
import {
  type Act, type Move, Story, asks, claim, fails, goodMoves, makeMove, moveNames, own, owed, person, randomOf, requested, submit, toBuild, toReview, walkGoals, written,
} from "@loopledger/shared/testing";
import { lookUp } from "@loopledger/shared/core/session/persistent-map";
import { changed, changedData, dumpOf } from "./plant.ts";
import { effectPlantings } from "./planted/effects.ts";
import { loopPlantings } from "./planted/loop.ts";
import { tenurePlantings } from "./planted/tenure.ts";

/** How often a walk means well, by seed. */
const goodness = [0.95, 0.85, 0.5];

export function walkOf(seed: number, length = 100): Story {
  const random = randomOf(seed);
  const good = goodness[seed % goodness.length] ?? 0.9;
  const story = new Story().append(submit(random.pick(walkGoals)));
  for (let i = 0; i < length; i++) {
    const move: Move = { name: random.chance(good) ? random.pick(goodMoves) : random.pick(moveNames), a: random.below(200), b: random.below(200) };
    makeMove(story, move);
  }
  return story;
}
/** A walk's record of another session does not belong into the session's log; the reader of a key never sees it there. */
function ownRows(rows: readonly DumpRow[]): DumpRow[] {
  return rows.map((row) => ({ ...row, key: "session-1" }));
}

export function plantedLogs(): DumpRow[][] {
  const planted = [...tenurePlantings, ...effectPlantings, ...loopPlantings].map((planting) => planting());
  return planted.filter(({ row }) => row !== "S4").map(({ inputs }) => [...inputs.ledger]);
}
/** Short stories of what walks seldom come to; whatever is refused in them is refused for a reason. */
const turns: readonly (() => Story)[] = [
  () => told(toBuild(), claim("V", { epoch: 1 })),
  () => told([...toBuild(), claim("V")], claim("X", { epoch: 1 })),
  () => told([...toBuild(), own("error")]).repeat(),
  () => told(toBuild(), claim("V", { dispatch: "elsewhere" as never })),
  () => told([...toBuild(), asks("k1", { fences: false, callWindowSeconds: 60 })]).wait(61_000).append(claim("V")).append(own("reconciled", { key: "k1", outcome: "did_not_happen" })),
  () => told([...toBuild(), asks("k1"), own("tool_result", { key: "k1", outcome: "failed" })], asks("k1", { args: { to: "elsewhere" } })),
  () => told([...toBuild(), asks("k1")], own("cycle_failed")),
  () => told([...toReview(), fails(), person("pause_requested")], owed()),
  () => told([...toBuild(), asks("k1", { contract: "unsafe", fences: false })], claim("V"), asks("k2"), person("reconciled", { key: "k1" })),
  () => told([...toReview(), fails(), owed(), own("built"), owed(), fails(), owed(), own("built"), owed()], fails(), person("resumed")),
  () => told([...toBuild(), own("approval_requested"), person("approval_decided", {}, "boss")], approved("k1"), own("tool_result", { key: "k1" }), approved("k2")),
  () => told([...toReview(), fails({ checkDigest: `sha256:${"1".repeat(64)}` as never }), owed(), own("built"), owed()], fails({ checkDigest: `sha256:${"2".repeat(64)}` as never })),
  () => told([...toBuild(), asks("k1"), own("tool_result", { key: "k1" }), own("approval_requested"), pointsTo("k1")], asks("k2", { args: { to: "k1" }, approval: "cp-1" })),
  () => told([...toBuild(), asks("k1", { contract: "idempotent", fences: true, callWindowSeconds: 60 }), claim("V")], person("reconciled", { key: "k1", outcome: "did_not_happen" }), own("tool_result", { key: "k1", outcome: "failed" })),
  () => told([...toBuild(), asks("k1", { contract: "idempotent", fences: false, callWindowSeconds: 60 }), claim("V")], own("tool_result", { key: "k1", outcome: "failed" })),
  () => told([...toBuild(), own("error")], own("error", {}, { n: 1 }), own("error", {}, { n: 0 + 2 })),
  () => told([...toBuild(poor), reserves("r", 0.5), own("model", { usage: { costUsd: 1 } })], asks("k1"), own("model"), reserves("s", 0), own("model", { usage: { costUsd: 0.1, reservation: "r" } })),
  () => told([...toBuild({ goal: { policy: { approvals: [{ costUsd: 1 }] } } }), reserves("r", 2)], claim("V"), own("built"), owed()),
  () => told([...toBuild(), own("error", {}, { eventId: "same" as never })], own("error", {}, { eventId: "same" as never }), person("guidance")),
  () => told([...toBuild({ goal: { policy: { fourEyes: true } } }), person("checkpoint_requested", {}, "boss"), requested()], approveAs("boss"), approveAs("chief")),
  () => told(toBuild(), changed(person("guidance"), { ledgerId: "ledger-of-before" }), changed(claim("V"), { ledgerId: "ledger-of-before" })),
  () => told(toBuild(), changedData(asks("k1"), { argsDigest: `sha256:${"0".repeat(64)}` })),
  () => withText(told(toBuild()), { type: "guidance_withdrawn" }, { partition: 1 }).append(own("built")),
];
/** Answers what is asked first. */
const approveAs = (who: string): Act => (story) => {
  const known = lookUp(story.state.checkpoints, story.state.pending[0] ?? "");
  return written(story, person("approval_decided", { checkpoint: known?.id ?? "none", digest: known?.digest as never, decision: "APPROVE" }, who));
};
const poor = { goal: { budget: { costUsd: 1 } } };
const reserves = (id: string, costUsd: number): Act => own("reserved", { id, amounts: { costUsd } });
/** The last record once more, in other words and at another place. */
function withText(story: Story, over: object, place: { readonly partition: number }): Story {
  return story.appendText(JSON.stringify({ ...JSON.parse(story.entries.at(-1)?.text ?? "{}"), eventId: "in-other-words", ...over }), place);
}
/** A person who changes what is proposed into a call that was made before. */
function pointsTo(key: string): Act {
  return person("approval_decided", { decision: "MODIFY", action: { tool: "deploy", args: { to: key } } }, "boss");
}
function told(given: readonly Act[], ...then: readonly Act[]): Story {
  const story = new Story().given(...given);
  for (const act of then) story.append(act);
  return story;
}
/** A call that one approval lets through. */
const approved = (key: string): Act => asks(key, { args: { to: "production" }, approval: "cp-1" });

export function turnedLogs(): DumpRow[][] {
  return turns.map((turn) => dumpOf(turn()));
}
export function walkedLogs(seeds: number, length?: number): DumpRow[][] {
  return Array.from({ length: seeds }, (_, seed) => ownRows(dumpOf(walkOf(seed, length))));
}
