import { expect, test } from "vitest";
import { createMemoryLedger, createSeededIds, createVirtualClock } from "../adapters/memory/index.ts";
import type { Offset, SessionId } from "../core/brand.ts";
import { parseRecord } from "../core/events/parse.ts";
import { evolve } from "../core/session/evolve.ts";
import { writeSnapshot } from "../core/session/snapshot.ts";
import { emptySession } from "../core/session/state.ts";
import type { LogEntry, ReadModel } from "../ports/index.ts";
import { recordOf, sha256, submissionOf } from "../testing/index.ts";
import type { Engine } from "./engine.ts";
import { Folds } from "./folds.ts";
import { restoreFolds } from "./restore.ts";
import { Supervision } from "./supervision.ts";

const many = 1_200;
const idOf = (at: number): SessionId => `s-${String(at).padStart(5, "0")}` as SessionId;
const submit = (sessionId: SessionId): string => JSON.stringify(recordOf("goal_submitted", submissionOf(), { sessionId }));
const comment = (sessionId: SessionId, eventId: string): string =>
  JSON.stringify(recordOf("guidance", { text: "look again" }, { sessionId, eventId: eventId as never, actor: { kind: "human", id: "ann" } }));

function snapshotOf(entries: readonly LogEntry[], sessionId: SessionId): string {
  const folded = entries.reduce((state, entry) => evolve(state, { ...entry, parsed: parseRecord(entry.value), text: entry.value ?? "", verified: "off" }, sha256).state, emptySession(sessionId));
  return writeSnapshot({ state: folded, next: ((entries.at(-1)?.offset ?? 0) + 1) as Offset });
}

/** A ledger with many sessions, and views of all of them; `alive` may be broken in the middle of a reading. */
async function world(options: { readonly breaksAt?: number } = {}) {
  const clock = createVirtualClock();
  const ledger = createMemoryLedger({ clock, ids: createSeededIds(1), partitions: 2 }).handle();
  for (let at = 0; at < many; at++) await ledger.append(idOf(at), [submit(idOf(at))]);
  const cursors = await ledger.end();
  const snapshots = new Map<SessionId, string>();
  for (let at = 0; at < many; at++) snapshots.set(idOf(at), snapshotOf(await ledger.readSession(idOf(at)), idOf(at)));
  const reads: SessionId[] = [];
  let { breaksAt } = options;
  const views = {
    active: () => Promise.resolve("main"), cursors: () => Promise.resolve(cursors),
    alive: async function* () {
      let given = 0;
      for (const [sessionId, snapshot] of snapshots) {
        if (given++ === breaksAt) {
          breaksAt = undefined;
          throw new Error("the store of the views does not answer");
        }
        yield { sessionId, snapshot };
      }
    },
  } as unknown as ReadModel;
  const supervision = new Supervision({ clock, report: () => undefined });
  const readSession: typeof ledger.readSession = (id, from) => {
    reads.push(id);
    return ledger.readSession(id, from);
  };
  const folds = new Folds({
    ledger: { ...ledger, readSession }, ids: { ...createSeededIds(1), sha256 }, supervision, report: () => undefined,
  });
  const engine = { ledger, folds, views, supervision } as unknown as Engine;
  const passed = async (ms: number): Promise<void> => clock.advance(ms);
  return { engine, folds, ledger, snapshots, reads, passed };
}

test("a process takes work before it has read the snapshots of all sessions that wait; the others become known while it works", async () => {
  const { engine, folds, reads, passed } = await world();
  const seeded: SessionId[] = [];
  folds.onSeeded((state) => seeded.push(state.sessionId));
  await restoreFolds(engine);
  const first = folds.ids().length;
  expect(first).toBeLessThan(many / 2);
  await passed(1_000);
  expect(folds.ids()).toHaveLength(many);
  expect(seeded).toHaveLength(many - first);
  expect(reads).toEqual([]);
});

test("what came for a session before its snapshot was read is folded on its history, and the snapshot does not undo it", async () => {
  const { engine, folds, ledger, passed } = await world();
  await restoreFolds(engine);
  const late = idOf(many - 1);
  expect(folds.peek(late)).toBeUndefined();
  await ledger.append(late, [comment(late, "c-1")]);
  await passed(1_000);
  expect(folds.peek(late)?.seq).toBe(2);
  expect(folds.peek(late)?.guidance).toEqual(["look again"]);
});

test("a snapshot that holds more than was handed over here is not taken: the session is read, and its listeners hear of every record", async () => {
  const { engine, folds, ledger, snapshots, reads, passed } = await world();
  const late = idOf(many - 1);
  const heard: string[] = [];
  await restoreFolds(engine);
  folds.listen(({ sessionId, record }) => {
    if (sessionId === late && record) heard.push(record.type);
  });
  const own = await ledger.readSession(late);
  snapshots.set(late, writeSnapshot({ ...(JSON.parse(snapshotOf(own, late)) as { state: never }), next: 1_000_000 as Offset }));
  await passed(1_000);
  expect(reads).toEqual([late]);
  expect(heard).toEqual(["goal_submitted"]);
});

test("views that stop answering in the middle are read again, until every session is known", async () => {
  const { engine, folds, passed } = await world({ breaksAt: 700 });
  await restoreFolds(engine);
  await passed(5_000);
  expect(folds.ids()).toHaveLength(many);
  expect(engine.supervision.faulty()).toEqual([]);
});
