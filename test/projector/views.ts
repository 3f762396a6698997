/** What the projector's tests share: what they open is closed, and what the views have to hold is folded apart from all that runs. */
import { afterEach, expect } from "vitest";
import type { Offset, SessionId } from "@loopledger/shared/core/brand";
import { parseRecord } from "@loopledger/shared/core/events/parse";
import { canonicalJson } from "@loopledger/shared/core/json";
import { evolve } from "@loopledger/shared/core/session/evolve";
import { type SessionState, emptySession } from "@loopledger/shared/core/session/state";
import { statusOf } from "@loopledger/shared/core/session/status";
import type { ReadModel } from "@loopledger/shared/ports";
import type { Engine } from "@loopledger/shared/runtime";
import { randomOf } from "@loopledger/shared/testing";
import { type Place, Walker } from "../support/walks.ts";
import { type Projector, type ProjectorOptions, startProjector } from "../../services/projector/src/projector.ts";

export const cleanUp: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of cleanUp.splice(0).reverse()) await close();
});
export function opened(place: Place): Place {
  cleanUp.push(place.close);
  return place;
}
export async function started(engine: Engine, options: ProjectorOptions = {}): Promise<Projector> {
  const projector = await startProjector(engine, { batchMs: 2, ...options });
  cleanUp.push(() => projector.stop());
  return projector;
}
export const sessions = ["a", "b", "c", "d", "e"].map((name) => `walk-${name}` as SessionId);

export async function walk(engine: Engine, options: { seed: number; steps: number }): Promise<void> {
  const random = randomOf(options.seed);
  const walker = new Walker(engine, random);
  for (let step = 0; step < options.steps; step++) await walker.step(random.pick(sessions));
}

/** What the views have to hold: every entry of the ledger folded once more, apart from all that runs. */
export async function freshFold(engine: Engine): Promise<Map<string, string>> {
  const states = new Map<string, SessionState>();
  for (let partition = 0; partition < engine.ledger.partitions; partition++) {
    for (const entry of await engine.ledger.read(partition, 0 as Offset, 1_000_000)) {
      if (entry.key.startsWith("_ledger/")) continue;
      const before = states.get(entry.key) ?? emptySession(entry.key as SessionId);
      states.set(entry.key, evolve(before, { ...entry, parsed: parseRecord(entry.value), text: entry.value ?? "", verified: "off" }, engine.ids.sha256).state);
    }
  }
  return new Map([...states].filter(([, state]) => state.submission).map(([id, state]) => [id, canonicalJson(statusOf(state))]));
}
export async function documents(views: ReadModel, projection = "main"): Promise<Map<string, string>> {
  const page = await views.list(projection, { limit: 1000 });
  return new Map(page.items.map(({ sessionId, document }) => [sessionId, document]));
}
export const sorted = (map: Map<string, string>): [string, string][] => [...map].sort(([a], [b]) => (a < b ? -1 : 1));
export async function expectEqual(engine: Engine, projection?: string): Promise<void> {
  const expected = await freshFold(engine);
  expect(expected.size).toBeGreaterThan(0);
  expect(sorted(await documents(engine.views as ReadModel, projection))).toEqual(sorted(expected));
}
/** A store of views in which a call can be changed. */
export type Step = Parameters<ReadModel["write"]>[1];
export function changedViews(views: ReadModel, write: (call: () => Promise<boolean>, step: Step) => Promise<boolean>): ReadModel {
  return {
    ...views, alive: (projection) => views.alive(projection),
    write: (projection, step) => write(() => views.write(projection, step), step),
  };
}
