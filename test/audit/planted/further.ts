/** Other ways to break a row: with the evidence beside the ledger, over several sessions, over time. */
import type { SessionId } from "@loopledger/shared/core/brand";
import type { Json } from "@loopledger/shared/core/json";
import {
  Story, actionOf, asks, claim, dispatchAhead, fails, inconclusive, own, owed, passes, person, reported, submit, testSession, toBuild, toReview,
} from "@loopledger/shared/testing";
import { Plant, type Planting, asking, changed, changedData, dumpOf, effectOf, verdictsOf, viewOf } from "../plant.ts";

const now = ({ story }: Plant): number => story.clock.now();
const done = (): Plant => new Plant().given(...toReview(), passes(), owed(), reported());
const unknown = (over: Parameters<typeof asks>[1] = {}): Plant => asking("k1", over).given(claim("V"));
const source = { topic: "loopledger.goals", partition: 0, offset: 7 };
const { digest, action } = actionOf("deploy", { to: "k1" });

/** A parent that has opened a child, and the child, which spends. */
function family(spends: number, over: { readonly depth?: number } = {}): Planting {
  return () => {
    const plant = new Plant().given(...toReview({ goal: { budget: { costUsd: 5 } } }), fails({ next_steps: [{ goal: { goal: "part", maker: "agent", check: "tests" } }] }), owed());
    const child = Object.keys(plant.story.state.children)[0] ?? "";
    const acts = new Story({ sessionId: child as SessionId });
    const goal = submit({ goal: "part" }, { failureFirst: false });
    const parent = { sessionId: testSession, depth: over.depth ?? 1 };
    const inSession = (act: Parameters<typeof changed>[0]) => changed(act, { sessionId: child });
    const withParent: typeof goal = (story) => {
      const record = typeof goal === "function" ? goal(story) : goal;
      return { ...record, data: { ...record.data, parent } } as typeof record;
    };
    acts.given(inSession(withParent), inSession(owed()), inSession(claim("W")), inSession(own("model", { usage: { costUsd: spends } })));
    const offset = plant.story.entries.length;
    const moved = <T extends { readonly offset: number }>(rows: readonly T[]): T[] => rows.map((row) => ({ ...row, offset: row.offset + offset }));
    const { ledger, verdicts = [] } = plant.inputs();
    return {
      row: "B3", what: over.depth ? "a child of another depth than the one that was opened" : "a family that spends more than its parent may",
      inputs: { ledger: [...ledger, ...moved(dumpOf(acts))], verdicts: [...verdicts, ...moved(verdictsOf(acts))] },
    };
  };
}

export const furtherPlantings: Planting[] = [
  family(6),
  family(1, { depth: 2 }),
  () => {
    const inputs = done().inputs();
    const verdicts = (inputs.verdicts ?? []).map((row) => ({ ...row, release: "1" }));
    const other = { ...verdicts[2], release: "2", verdict: "void" as const, reason: "gap" as const, partition: 0, offset: 2 };
    return { row: "S6", what: "two releases that judge a record differently", inputs: { ...inputs, verdicts: [...verdicts, other] } };
  },
  () => {
    const plant = done();
    const built = plant.story.entries.find(({ parsed }) => parsed.kind === "record" && parsed.record.type === "built");
    const eventId = built?.parsed.kind === "record" ? built.parsed.record.eventId : "";
    return { row: "A1", what: "an acknowledged record with other bytes", inputs: plant.inputs({ acks: [{ partition: 0, offset: built?.offset ?? 0, eventId, digest: `sha256:${"0".repeat(64)}` }] }) };
  },
  () => ({ row: "S3", what: "a reader that leaves a number out", inputs: skipping(done()) }),
  () => {
    const plant = new Plant().given(submit());
    plant.story.appendText(JSON.stringify({ ...JSON.parse(plant.story.entries[0]?.text ?? "{}"), type: "goal_split", eventId: "later" }));
    return { row: "S5", what: "a view that goes on over an unknown record", inputs: plant.inputs({ views: [viewOf(plant.story, { disposition: "running", reason: null, error: null, waitingOn: [] })] }) };
  },
  () => {
    const plant = unknown({ contract: "unsafe", fences: false });
    return { row: "E4", what: "a view that runs on over an unknown unsafe call", inputs: plant.inputs({ views: [viewOf(plant.story, { disposition: "running", reason: null, error: null, endedAt: null, waitingOn: [] })] }) };
  },
  () => ({
    row: "E2", what: "an effect that a run to done must have had",
    inputs: done().inputs({ effects: [], expected: [{ kind: "session", sessionId: testSession, ends: "done", keys: ["deploy:1"] }] }),
  }),
  () => {
    const plant = unknown({ fences: true });
    return { row: "E10", what: "a person who concludes behind a fence that nobody set", inputs: plant.given(person("reconciled", { key: "k1", outcome: "did_not_happen" })).inputs({ effects: [] }) };
  },
  () => {
    const plant = unknown({ fences: true });
    const look = effectOf("k1", { kind: "lookup", epoch: 2, at: now(plant) + 1 });
    plant.given(own("reconciled", { key: "k1", outcome: "did_not_happen" }));
    const late = effectOf("k1", { epoch: 2, at: now(plant) + 1 });
    return { row: "E10", what: "an application after the conclusion that there was none", inputs: plant.inputs({ effects: [look, late] }) };
  },
  () => {
    const plant = asking("k1", { contract: "idempotent" });
    plant.given(own("approval_requested", { checkpoint: "cp-1", action, digest }), person("approval_decided", { checkpoint: "cp-1", digest, decision: "REJECT" }, "boss"));
    const applied = effectOf("k1", { at: now(plant) + 1 });
    return { row: "P4", what: "an application after the rejection of just that call", inputs: plant.given(own("tool_result", { key: "k1" })).inputs({ effects: [applied] }) };
  },
  () => ({
    row: "P3", what: "a decision by somebody without the role",
    inputs: new Plant().given(...toBuild(), own("approval_requested"), person("approval_decided", {}, "boss")).inputs({ expected: [{ kind: "approver", id: "chief" }] }),
  }),
  () => ({
    row: "B4", what: "a call after the money is gone",
    inputs: new Plant().given(...toBuild({ goal: { budget: { costUsd: 1 } } }), own("model", { usage: { costUsd: 1 } })).taken(asks("k1")).inputs(),
  }),
  () => ({
    row: "B4", what: "a model call after the money is gone",
    inputs: new Plant().given(...toBuild({ goal: { budget: { costUsd: 1 } } }), own("model", { usage: { costUsd: 1 } })).taken(own("model")).inputs(),
  }),
  () => ({
    row: "B4", what: "something set aside after the money is gone",
    inputs: new Plant().given(...toBuild({ goal: { budget: { costUsd: 1 } } }), own("model", { usage: { costUsd: 1 } })).taken(own("reserved", { id: "r", amounts: {} })).inputs(),
  }),
  () => ({
    row: "A3", what: "two records of an owner under one id",
    inputs: new Plant().given(...toBuild(), changed(own("grounding"), { eventId: "same" })).taken(changed(claim("V"), { eventId: "same" })).inputs(),
  }),
  () => ({ row: "S2", what: "a record of the ledger of before", inputs: new Plant().given(...toBuild()).taken(changed(person("guidance"), { ledgerId: "ledger-of-before" })).inputs() }),
  () => ({ row: "E5", what: "a digest that is not that of the arguments", inputs: new Plant().given(...toBuild()).taken(changedData(asks("k1"), { argsDigest: `sha256:${"0".repeat(64)}` })).inputs() }),
  () => {
    const plant = new Plant().given(...toReview(), inconclusive());
    return { row: "X2", what: "a timer that never fires", options: { endedAt: now(plant) + 200_000 }, inputs: plant.inputs({ faults: [{ name: "scheduler killed", fired: true, at: now(plant) }] }) };
  },
  () => {
    const plant = new Plant().given(...toBuild());
    return { row: "X2", what: "a build that nobody goes on with", options: { endedAt: now(plant) + 200_000 }, inputs: plant.inputs({ faults: [{ name: "worker killed", fired: true, at: now(plant) }] }) };
  },
  () => ({ row: "T1", what: "a view of nothing", inputs: done().inputs({ views: [{ kind: "view", sessionId: "nobody", status: {} }] }) }),
  () => {
    const plant = new Plant().given(...toBuild());
    const early = viewOf(plant.story);
    return { row: "T1", what: "a view that lies ahead of its cursor", inputs: plant.inputs({ views: [{ ...early, kind: "view", next: 2 } as typeof early] }) };
  },
  () => ({ row: "T6", what: "another event under a number", inputs: done().inputs({ clients: [{ client: "c1", sessionId: testSession, seq: 1, eventId: "elsewhere" }] }) }),
  () => ({ row: "H4", what: "a malformed goal without a letter", inputs: done().inputs({ deadLetters: [], expected: [{ kind: "malformed", ...source }] }) }),
  () => ({ row: "H4", what: "a goal behind a malformed one that was lost", inputs: done().inputs({ expected: [{ kind: "goal", ...source, sessionId: "lost" }] }) }),
  () => {
    const secret = "canary-with-\"quotes\"";
    return { row: "H1", what: "a secret in the ledger, in JSON's spelling", inputs: new Plant().given(...toBuild(), own("step", { result: secret as Json })).inputs({ expected: [{ kind: "canary", text: secret }] }) };
  },
  () => {
    const plant = new Plant().given(...toBuild(), own("step", { result: { blob: `sha256:${"a".repeat(64)}`, bytes: 70_000 } }));
    return { row: "H2", what: "a blob of another size", inputs: plant.inputs({ blobs: [{ digest: `sha256:${"a".repeat(64)}`, bytes: 7 }] }) };
  },
  () => {
    const plant = new Plant().given(...toBuild());
    const long = JSON.stringify({ ...JSON.parse(plant.story.entries[0]?.text ?? "{}"), eventId: "long", padding: "x".repeat(1_100_000) });
    return { row: "H2", what: "a record beyond the size limit that a reader took", inputs: plant.takenText(long).inputs() };
  },
  () => {
    const plant = new Plant().given(...toReview(), passes());
    const { cause } = plant.story.state.owed ?? { cause: "" };
    return { row: "D1", what: "a dispatch in place of the receipt", inputs: plant.taken(dispatchAhead(cause as never, { cycle: "build", leaf: "goal", iteration: 2, task: "more" })).inputs() };
  },
];

/** From the fourth record on, this reader's numbers are one too high. */
function skipping(plant: Plant): ReturnType<Plant["inputs"]> {
  const inputs = plant.inputs();
  return { ...inputs, verdicts: (inputs.verdicts ?? []).map((row, index) => (index >= 3 ? { ...row, seq: (row.seq ?? 0) + 1 } : row)) };
}
