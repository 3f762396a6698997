/** Ledgers in which the loop goes where it must not: timers, approvals, verdicts, budgets, ends. */
import type { EventId } from "@loopledger/shared/core/brand";
import type { LedgerRecord } from "@loopledger/shared/core/events/envelope";
import {
  actorOf, asks, claim, dispatchAhead, fails, fired, inconclusive, own, owed, passes, person, recordOf, reported, submit, toBuild, toReview,
} from "@loopledger/shared/testing";
import { Plant, type Planting, changed } from "../plant.ts";

const build = (start: Parameters<typeof toBuild>[0] = {}): Plant => new Plant().given(...toBuild(start));
const review = (start: Parameters<typeof toBuild>[0] = {}): Plant => new Plant().given(...toReview(start));
const lastId = ({ story }: Plant): EventId => {
  const parsed = story.entries.at(-1)?.parsed;
  return (parsed?.kind === "record" ? parsed.record.eventId : "") as EventId;
};
const decides = (decision: "APPROVE" | "REJECT", who: string) => person("approval_decided", { decision }, who);
/** A derived record that names the last record as its cause. */
const afterLast = <T extends "receipt" | "child_opened">(plant: Plant, type: T) => recordOf(type, {}, { cause: lastId(plant), actor: actorOf("scheduler") }) as LedgerRecord;

export const loopPlantings: Planting[] = [
  () => ({ row: "D7", what: "a timer before its time", inputs: review().given(inconclusive()).taken(fired("check")).inputs() }),
  () => ({
    row: "P1", what: "a protected call without an approval",
    inputs: build({ goal: { policy: { approvals: [{ before: "deploy" }] } } }).taken(asks("k1")).inputs(),
  }),
  () => ({
    row: "P2", what: "a second decision that contradicts",
    inputs: build().given(own("approval_requested"), decides("APPROVE", "boss")).taken(decides("REJECT", "chief")).inputs(),
  }),
  () => ({
    row: "P3", what: "somebody who approves what they asked for",
    inputs: build().given(own("approval_requested", {}, { actor: { kind: "maker", id: "ann" } })).taken(decides("APPROVE", "ann")).inputs(),
  }),
  () => ({ row: "C1", what: "a receipt with other evidence", inputs: review().given(passes()).taken(owed({ evidenceDigest: `sha256:${"0".repeat(64)}` })).inputs() }),
  () => ({ row: "C2", what: "a maker that judges its own work", inputs: review().taken(changed(passes(), { actor: { kind: "checker", id: "agent@sha256:1" } })).inputs() }),
  () => {
    const plant = review().given(fails({ next_steps: [] }));
    return { row: "C3", what: "a dispatch after a contradictory verdict", inputs: plant.taken(dispatchAhead(lastId(plant), { cycle: "build", leaf: "goal", iteration: 2, task: "more" })).inputs() };
  },
  () => {
    const plant = review().given(own("grounding", { outcome: "partial" }), passes());
    return { row: "C4", what: "a receipt over an evidence gap", inputs: plant.taken(afterLast(plant, "receipt")).inputs() };
  },
  () => ({ row: "B1", what: "a reservation beyond the limit", inputs: build({ goal: { budget: { costUsd: 1 } } }).taken(own("reserved", { amounts: { costUsd: 2 } })).inputs() }),
  () => ({
    row: "B2", what: "one iteration too many",
    inputs: review({ goal: { budget: { iterations: 1 } } }).given(fails()).taken(owed()).inputs(),
  }),
  () => {
    const plant = build().given(person("guidance"));
    return { row: "B3", what: "a child that nothing calls for", inputs: plant.taken(afterLast(plant, "child_opened")).inputs() };
  },
  () => ({
    row: "B4", what: "another build after the money is gone",
    inputs: review({ goal: { budget: { costUsd: 1 } } }).given(fails({ usage: { costUsd: 1 } })).taken(owed()).inputs(),
  }),
  () => ({ row: "B5", what: "one try too many", inputs: build({ goal: { policy: { retry: { maxAttempts: 1 } } } }).taken(own("retry", { attempt: 2 })).inputs() }),
  () => ({ row: "X1", what: "a claim after the end", inputs: review().given(passes(), owed(), reported()).taken(claim("V", { dispatch: "none" as EventId })).inputs() }),
  () => ({
    row: "X2", what: "a run that does not end as it should",
    inputs: new Plant().given(submit(), person("pause_requested")).inputs({ expected: [{ kind: "session", sessionId: "session-1", ends: "done" }] }),
  }),
];
