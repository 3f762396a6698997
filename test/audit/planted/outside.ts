/** A sound ledger, and something beside it that is not: views, streams, secrets, blobs, dead letters, files. */
import type { AuditInputs } from "@loopledger/audit";
import { claim, own, owed, passes, reported, testSession, toBuild, toReview } from "@loopledger/shared/testing";
import { Plant, type Planting, viewOf } from "../plant.ts";

const done = (): Plant => new Plant().given(...toReview(), passes(), owed(), reported());
const letter = { reason: "not_json", source: { topic: "loopledger.goals", partition: 0, offset: 7 } };
const secret = "canary-4f1d9b2c";

export const outsidePlantings: Planting[] = [
  () => {
    const plant = done();
    return { row: "T1", what: "a view that says otherwise", inputs: plant.inputs({ views: [viewOf(plant.story, { iteration: 7 })] }) };
  },
  () => {
    const cursor = { kind: "cursor", partition: 0 } as const;
    return { row: "T3", what: "a cursor that fell", inputs: done().inputs({ views: [{ ...cursor, next: 5 }, { ...cursor, next: 4 }] }) };
  },
  () => ({ row: "T6", what: "a gap in a client's stream", inputs: done().inputs({ clients: [1, 2, 4].map((seq) => ({ client: "c1", sessionId: testSession, seq })) }) }),
  () => {
    const plant = new Plant().given(...toBuild({ goal: { budget: { costUsd: 5 } } }), own("reserved", { amounts: { costUsd: 2 } }), claim("V"));
    const view = viewOf(plant.story);
    const budget = (view as { readonly status: Record<string, object> }).status["budget"] as { readonly costUsd: object };
    const lost = { ...budget, costUsd: { ...budget.costUsd, spent: 0, remaining: 5 } };
    return { row: "B6", what: "a reservation that was lost with its owner", inputs: plant.inputs({ views: [viewOf(plant.story, { budget: lost })] }) };
  },
  () => ({ row: "H1", what: "a secret in a log", inputs: done().inputs({ logs: [`token=${secret}`], expected: [{ kind: "canary", text: secret }] }) }),
  () => {
    const blob = { blob: `sha256:${"a".repeat(64)}`, bytes: 70_000 };
    return { row: "H2", what: "a reference to a blob that is nowhere", inputs: new Plant().given(...toBuild(), own("step", { result: blob })).inputs({ blobs: [] }) };
  },
  () => ({ row: "H4", what: "two dead letters for one record", inputs: done().inputs({ deadLetters: [letter, letter] }) }),
  () => ({
    row: "H5", what: "a file that only an injected command makes", options: { exists: (path) => path === "canary" },
    inputs: done().inputs({ expected: [{ kind: "absent", path: "canary" }] }),
  }),
];

/** The same evidence, and nothing is wrong with it. */
export function soundInputs(): AuditInputs {
  const plant = done();
  return plant.inputs({
    views: [viewOf(plant.story), { kind: "cursor", partition: 0, next: 4 }, { kind: "cursor", partition: 0, next: 5 }],
    clients: [1, 2, 3, 4].map((seq) => ({ client: "c1", sessionId: testSession, seq })), logs: ["all is well"], deadLetters: [letter], blobs: [],
    expected: [{ kind: "canary", text: secret }, { kind: "session", sessionId: testSession, ends: "done" }, { kind: "malformed", topic: "loopledger.goals", partition: 0, offset: 7 }],
    faults: [{ name: "worker killed", fired: true }], effects: [], acks: [],
  });
}
