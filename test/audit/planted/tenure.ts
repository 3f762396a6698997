/** Ledgers in which somebody writes who may not: places, ids, epochs, numbers. */
import type { Epoch, EventId, OwnerId, SessionId } from "@loopledger/shared/core/brand";
import {
  claim, dispatchAhead, own, owed, person, recordOf, submit, testSession, toBuild, toReview, written,
} from "@loopledger/shared/testing";
import { Plant, type Planting, changed, changedData, dumpOf } from "../plant.ts";

const build = (): Plant => new Plant().given(...toBuild());
const content = { cycle: "build", leaf: "goal", iteration: 2, task: "more" } as const;
const digests = { one: `sha256:${"1".repeat(64)}`, other: `sha256:${"2".repeat(64)}` };

export const tenurePlantings: Planting[] = [
  () => ({ row: "S1", what: "a record of another session under this key", inputs: build().taken(changed(person("guidance"), { sessionId: "another" as SessionId }), { key: testSession }).inputs() }),
  () => ({ row: "S2", what: "a record away from home", inputs: build().taken(person("guidance"), { partition: 1 }).inputs() }),
  () => ({ row: "S3", what: "a jump in an owner's numbers", inputs: build().taken(own("step", {}, { n: 2 })).inputs() }),
  () => {
    const { ledger, ...rest } = build().inputs();
    const [first, second, ...others] = ledger;
    return { row: "S4", what: "two rows that changed places", inputs: { ...rest, ledger: [second, first, ...others].filter((row) => row !== undefined) } };
  },
  () => ({
    row: "S5", what: "a record of a later release, taken as if it were known",
    inputs: build().takenText(JSON.stringify({ ...recordOf("guidance"), actor: { kind: "human", id: "ann" }, type: "guidance_withdrawn" })).inputs(),
  }),
  () => ({
    row: "S6", what: "a schema that another release has changed",
    inputs: build().inputs({ schemas: [{ type: "built", typeVersion: 1, digest: digests.one, release: "1" }, { type: "built", typeVersion: 1, digest: digests.other, release: "2" }] }),
  }),
  () => ({ row: "A1", what: "an acknowledged record that is gone", inputs: build().inputs({ acks: [{ partition: 0, offset: 3, eventId: "built-1" }] }) }),
  () => {
    const plant = build().given(person("guidance"));
    const { text } = plant.story.entries.at(-1) as (typeof plant.story.entries)[number];
    return { row: "A3", what: "the same bytes counted twice", inputs: plant.takenText(text).inputs() };
  },
  () => ({ row: "F1", what: "a claim that skips an epoch", inputs: build().taken(claim("V", { epoch: 3 })).inputs() }),
  () => ({
    row: "F3", what: "a record of an owner that was taken over",
    inputs: build().given(claim("V")).taken(own("step", {}, { epoch: 1 as Epoch, ownerId: "W" as OwnerId, n: 1 })).inputs(),
  }),
  () => {
    const plant = build();
    const stale = written(plant.story, own("built", {}, { ownerId: "Z" as OwnerId }));
    const { task } = plant.story.state.open ?? { task: "" };
    return {
      row: "F4", what: "the second half of a batch whose first half is void",
      inputs: plant.refused(stale).taken(dispatchAhead(stale.eventId, { cycle: "review", leaf: "goal", iteration: 1, task })).inputs(),
    };
  },
  () => ({ row: "F5", what: "an owner record for another dispatch", inputs: build().taken(own("step", {}, { cause: "elsewhere" as EventId })).inputs() }),
  () => ({
    row: "F6", what: "one owner id of two processes",
    inputs: build().given(changedData(claim("W"), { host: { pid: 4712, startTime: "2", bootId: "boot", pidNamespace: "pid" } })).inputs(),
  }),
  () => {
    const plant = new Plant().given(submit({}, { failureFirst: false }), person("guidance"));
    const cause = plant.story.entries.at(-1)?.parsed;
    const id = (cause?.kind === "record" ? cause.record.eventId : "") as EventId;
    return { row: "D1", what: "a dispatch by a record that calls for none", inputs: plant.taken(dispatchAhead(id, { ...content, iteration: 1 })).inputs() };
  },
  () => {
    const plant = build();
    return { row: "D2", what: "a second dispatch of one cause", inputs: plant.taken(dispatchAhead(causeOfOpen(plant), content, { eventId: "made-up" as EventId })).inputs() };
  },
  () => {
    const plant = new Plant().given(submit());
    const { time } = dumpOf(plant.story)[0] ?? { time: 0 };
    return {
      row: "D3", what: "nobody dispatches what is called for", options: { endedAt: time + 200_000 },
      inputs: plant.inputs({ faults: [{ name: "scheduler killed", fired: true, until: time + 100_000 }] }),
    };
  },
  () => ({ row: "D4", what: "a dispatch with a task of its own", inputs: new Plant().given(submit()).taken(owed({ task: "something else" })).inputs() }),
  () => ({ row: "D5", what: "a derived record under another id", inputs: new Plant().given(submit()).taken(changed(owed(), { eventId: "made-up" })).inputs() }),
  () => {
    const plant = build().given(person("guidance"));
    const last = plant.story.entries.at(-1)?.parsed;
    const id = (last?.kind === "record" ? last.record.eventId : "") as EventId;
    return { row: "D6", what: "a dispatch beside an open one", inputs: plant.taken(dispatchAhead(id, content)).inputs() };
  },
  () => ({
    row: "H3", what: "a person who writes a maker's record",
    inputs: build().taken(changed(own("step"), { actor: { kind: "human", id: "ann" } })).inputs(),
  }),
  () => ({ row: "T2", what: "a reader that refuses what counts", inputs: new Plant().given(...toReview()).dropped(person("guidance")).inputs() }),
];

function causeOfOpen({ story }: Plant): EventId {
  const parsed = story.entries.find(({ parsed: one }) => one.kind === "record" && one.record.type === "dispatched")?.parsed;
  return (parsed?.kind === "record" ? parsed.record.cause?.eventId : "") as EventId;
}
