/** Read models in memory. The handles of one store share it; each may be given stale answers and lost ones. */
import type { Offset, SessionId } from "../../core/brand.ts";
import { LoopledgerError } from "../../core/errors.ts";
import { formatViewCursor, parseViewCursor } from "../../core/view-cursor.ts";
import type { Clock, ReadModel, ViewPage, ViewWrite } from "../../ports/index.ts";
import type { ReadModelFaults } from "./faults.ts";
import { createMemoryProcess, type MemoryProcess } from "./process.ts";
import { type SeededRandom, seededRandom } from "./random.ts";

export interface MemoryReadModelOptions {
  readonly clock: Clock;
  readonly seed?: number | string;
  /** Told of every write that was applied, also where its answer is lost: what an auditor is given. */
  readonly applied?: (projection: string, step: Parameters<ReadModel["write"]>[1]) => void;
}
export interface MemoryReadModel {
  /** A handle for the views of one ledger; those of another are not seen through it. */
  handle(options: { readonly ledgerId: string; readonly process?: MemoryProcess; readonly faults?: ReadModelFaults }): ReadModel;
  /** Forgets everything, as a flushed store would. */
  forget(): void;
}

/** A view and what it was one write earlier: what a lagging copy would still show. */
interface Versions {
  readonly now: ViewWrite;
  readonly before: ViewWrite | null;
}
interface Projection {
  readonly cursors: Map<number, Offset>;
  readonly views: Map<SessionId, Versions>;
}
interface Store {
  readonly projections: Map<string, Map<string, Projection>>;
  readonly active: Map<string, string>;
}

const FIRST = "main";

export function createMemoryReadModel({ clock, seed = 0, applied = () => undefined }: MemoryReadModelOptions): MemoryReadModel {
  const store: Store = { projections: new Map(), active: new Map() };
  const random = seededRandom(`read-model/${seed}`);
  let handles = 0;
  return {
    handle: ({ ledgerId, process = createMemoryProcess(clock), faults = {} }) =>
      createHandle({ store, ledgerId, process, faults, random: random.fork(String(handles++)), onApplied: applied }),
    forget: () => {
      store.projections.clear();
      store.active.clear();
    },
  };
}

interface Wiring {
  readonly store: Store;
  readonly ledgerId: string;
  readonly process: MemoryProcess;
  readonly faults: ReadModelFaults;
  readonly random: SeededRandom;
  readonly onApplied: NonNullable<MemoryReadModelOptions["applied"]>;
}

function createHandle({ store, ledgerId, process, faults, random, onApplied }: Wiring): ReadModel {
  const answer = <T>(call: () => T): Promise<T> => new Promise((done, fail) => queueMicrotask(() => {
    try {
      const value = call();
      process.enter(() => done(value));
    } catch (error) {
      process.enter(() => fail(error));
    }
  }));
  const own = (): Map<string, Projection> => projectionsOf(store, ledgerId);
  const read = (version: Versions): ViewWrite | null => (random.chance(faults.staleRead) ? version.before : version.now);
  const viewsOf = (projection: string): ViewWrite[] => {
    const views: ViewWrite[] = [];
    for (const version of own().get(projection)?.views.values() ?? []) {
      const view = read(version);
      if (view !== null) views.push(view);
    }
    return views;
  };
  return {
    cursors: (projection) => answer(() => new Map(own().get(projection)?.cursors)),
    write: (projection, step) => answer(() => {
      if (random.chance(faults.drop)) throw noAnswer();
      const applied = apply(projectionsOf(store, ledgerId), projection, step);
      if (applied) onApplied(projection, step);
      if (random.chance(faults.loseAck)) throw noAnswer();
      return applied;
    }),
    get: (projection, sessionId) => answer(() => {
      const version = own().get(projection)?.views.get(sessionId);
      return version === undefined ? null : (read(version)?.document ?? null);
    }),
    list: (projection, query) => answer(() => listOf(viewsOf(projection), query)),
    alive: async function* (projection) {
      const views = await answer(() => [...(own().get(projection)?.views.values() ?? [])].map((version) => version.now));
      for (const { sessionId, snapshot } of views) if (snapshot !== null) yield { sessionId, snapshot };
    },
    projections: () => answer(() => [...own().keys()].sort()),
    active: () => answer(() => store.active.get(ledgerId) ?? FIRST),
    use: (projection) => answer(() => void store.active.set(ledgerId, projection)),
    drop: (projection) => answer(() => void own().delete(projection)),
    close: async () => {},
  };
}

function noAnswer(): LoopledgerError {
  return new LoopledgerError("views_unreachable", "The store of the views did not answer; whether it took the write is unknown.");
}

function projectionsOf(store: Store, ledgerId: string): Map<string, Projection> {
  const projections = store.projections.get(ledgerId) ?? new Map<string, Projection>();
  store.projections.set(ledgerId, projections);
  return projections;
}

function apply(projections: Map<string, Projection>, name: string, step: Parameters<ReadModel["write"]>[1]): boolean {
  const { partition, from, to, views } = step;
  const projection: Projection = projections.get(name) ?? { cursors: new Map(), views: new Map() };
  if ((projection.cursors.get(partition) ?? 0) !== from) return false;
  projections.set(name, projection);
  for (const view of views) {
    projection.views.set(view.sessionId, { now: view, before: projection.views.get(view.sessionId)?.now ?? null });
  }
  projection.cursors.set(partition, to);
  return true;
}

function listOf(views: readonly ViewWrite[], query: Parameters<ReadModel["list"]>[1]): ViewPage {
  const { disposition, label, cursor, limit } = query;
  const after = cursor === undefined ? null : parseViewCursor(cursor);
  const isAfter = (view: ViewWrite): boolean =>
    after === null || view.at < after.at || (view.at === after.at && view.sessionId < after.sessionId);
  const hasLabel = (view: ViewWrite): boolean =>
    label === undefined || Object.entries(view.labels).some(([name, value]) => `${name}=${value}` === label);
  const rows = views
    .filter((view) => (disposition === undefined || view.disposition === disposition) && hasLabel(view) && isAfter(view))
    .sort((a, b) => b.at - a.at || (a.sessionId < b.sessionId ? 1 : -1));
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    items: page.map(({ sessionId, document }) => ({ sessionId, document })),
    next: rows.length > limit && last !== undefined ? formatViewCursor(last) : null,
  };
}
