/** The calls of the views' scripts on one connection, with their answers in this program's types. */
import type { Offset, SessionId } from "../../core/brand.ts";
import { isLoopledgerError, LoopledgerError } from "../../core/errors.ts";
import type { ReadModel, ViewWrite } from "../../ports/index.ts";
import { connectRedis, type RedisConnection, type RedisOptions, type Script, unreachableBy } from "./connection.ts";
import { refuseEviction } from "./eviction.ts";
import { ownerOf, type ViewKeys } from "./view-keys.ts";
import { clearViews, listViews, readAlive, readCursors, readView, writeViews } from "./view-scripts.ts";

export type Step = Parameters<ReadModel["write"]>[1];
export interface Row { readonly sessionId: SessionId; readonly at: number; readonly document: string }
export interface ListQuery {
  readonly set: string;
  readonly other: string;
  readonly after: { readonly at: number; readonly sessionId: SessionId } | null;
  readonly wanted: number;
}
export interface ListAnswer {
  readonly rows: readonly Row[];
  /** The last row that was looked at, where more may follow. */
  readonly last: { readonly at: number; readonly sessionId: SessionId } | null;
}

export interface ViewStore {
  /** `held` where the projection is not free; by whom. */
  write(projection: string, step: Step): Promise<{ readonly applied: boolean; readonly held: string | null }>;
  cursors(projection: string): Promise<ReadonlyMap<number, Offset>>;
  view(projection: string, sessionId: SessionId): Promise<string | null>;
  list(projection: string, query: ListQuery): Promise<ListAnswer>;
  alive(projection: string, after: string): Promise<{ readonly cursors: ReadonlyMap<number, Offset>; readonly items: readonly { sessionId: SessionId; snapshot: string }[] }>;
  owners(): Promise<Readonly<Record<string, string>>>;
  /** Removes a part of a projection that is marked so; the mark that it has from now on, null where nothing is left to do. */
  clear(projection: string, marked: { readonly from: string; readonly to: string }): Promise<string | null>;
  active(): Promise<{ readonly projection: string | null; readonly ledgerId: string | null }>;
  use(projection: string): Promise<void>;
  close(): void;
}

const LOOKED_AT = 1_000;
export const ALIVE_CHUNK = 100;
const CLEAR_CHUNK = 500;

/** Throws `redis_evicts`, and `views_unreachable` where there is no Redis. */
export async function openViewStore(keys: ViewKeys, { ledgerId, ...options }: RedisOptions & { readonly ledgerId: string }): Promise<ViewStore> {
  const connection = connectRedis(options);
  const run = await admitted(connection, options.log);
  const call = (name: string, script: Script) => {
    const send = connection.command(name, script);
    return (projection: string, ...values: readonly (string | number)[]): Promise<unknown> =>
      run(() => send(keys.projections, keys.of(projection, ""), projection, ...values));
  };
  const own = ownerOf(ledgerId);
  const [write, cursors, view, list, alive, clear] = [
    call("loopledgerWrite", writeViews), call("loopledgerCursors", readCursors), call("loopledgerView", readView),
    call("loopledgerList", listViews), call("loopledgerAlive", readAlive), call("loopledgerClear", clearViews),
  ];
  const { client } = connection;
  return {
    write: async (projection, { partition, from, to, views }) => {
      const rows = views.flatMap(valuesOf);
      const answer = await write(projection, own, partition, from, to, keys.active, keys.activeLedger, ...rows) as [number, string?];
      return { applied: answer[0] === 1, held: answer[1] ?? null };
    },
    cursors: async (projection) => cursorsOf(await cursors(projection, own)),
    view: async (projection, sessionId) => {
      const found = await view(projection, own, sessionId) as string | null | 0;
      if (found === 0) throw damaged(sessionId);
      return found;
    },
    list: async (projection, { set, other, after, wanted }) => listOf(
      await list(projection, own, set, other, after?.at ?? "", after?.sessionId ?? "", wanted, LOOKED_AT) as string[]),
    alive: async (projection, after) => aliveOf(await alive(projection, own, after, ALIVE_CHUNK) as [string[], string[], string[]]),
    owners: () => run(() => client.hgetall(keys.projections)),
    clear: async (projection, { from, to }) => {
      const mark = await clear(projection, from, CLEAR_CHUNK, to);
      return mark === "done" ? null : String(mark);
    },
    active: async () => {
      const [projection, chosenBy] = await run(() => client.mget(keys.active, keys.activeLedger));
      return { projection: projection ?? null, ledgerId: chosenBy ?? null };
    },
    use: async (projection) => void (await run(() => client.mset(keys.active, projection, keys.activeLedger, ledgerId))),
    close: () => connection.close(),
  };
}

/** Runs calls on a server that is known not to evict: looked at once a connection, because the next one may lead to another. */
async function admitted(connection: RedisConnection, log: RedisOptions["log"]): Promise<<T>(call: () => Promise<T>) => Promise<T>> {
  let lookedAt = -1;
  const admit = async (): Promise<void> => {
    const losses = connection.losses();
    if (lookedAt === losses) return;
    await refuseEviction(connection, log);
    lookedAt = losses;
  };
  const run = async <T>(call: () => Promise<T>): Promise<T> => {
    try {
      await admit();
      return await call();
    } catch (error) {
      if (isLoopledgerError(error)) throw error;
      const encryption = unreachableBy(connection, error);
      if (encryption !== null) throw encryption;
      const why = error instanceof Error ? error.message : String(error);
      throw new LoopledgerError("views_unreachable", `The views in Redis at ${connection.address} cannot be used: ${why}.`, { cause: error });
    }
  };
  try {
    if (!(await connection.ready())) throw unreachableBy(connection) ?? new LoopledgerError("views_unreachable", `Redis at ${connection.address} cannot be reached.`);
    await run(async () => undefined);
  } catch (error) {
    connection.close();
    throw error;
  }
  return run;
}

function valuesOf({ sessionId, at, disposition, labels, document, snapshot }: ViewWrite): (string | number)[] {
  const entry = [disposition, ...Object.entries(labels).map(([name, value]) => `${name}=${value}`)];
  return [sessionId, at, JSON.stringify(entry), document, snapshot === null ? "0" : "1", snapshot ?? ""];
}

function cursorsOf(answer: unknown): Map<number, Offset> {
  const pairs = answer as readonly string[];
  const cursors = new Map<number, Offset>();
  for (let i = 0; i < pairs.length; i += 2) cursors.set(Number(pairs[i]), Number(pairs[i + 1]) as Offset);
  return cursors;
}

function listOf([more, at, session, ...values]: readonly string[]): ListAnswer {
  const rows: Row[] = [];
  for (let i = 0; i < values.length; i += 3) {
    const [sessionId, time, document] = [values[i] as SessionId, Number(values[i + 1]), values[i + 2] as string];
    if (document === "") throw damaged(sessionId);
    rows.push({ sessionId, at: time, document });
  }
  return { rows, last: more === "1" ? { at: Number(at), sessionId: session as SessionId } : null };
}

function aliveOf([pairs, ids, snapshots]: readonly [string[], string[], string[]]): Awaited<ReturnType<ViewStore["alive"]>> {
  const items = ids.map((id, i) => {
    const snapshot = snapshots[i];
    if (!snapshot) throw damaged(id);
    return { sessionId: id as SessionId, snapshot };
  });
  return { cursors: cursorsOf(pairs), items };
}

/** A key that is gone says nothing of its session, so the reader is not told that there is none. */
function damaged(sessionId: string): LoopledgerError {
  return new LoopledgerError("views_unreachable", `A part of the view of ${sessionId} is gone from Redis although its index names it.`, {
    next: "Somebody removed keys. Make the views anew from the ledger: loopledger projections create NAME, then projections use NAME.",
  });
}
