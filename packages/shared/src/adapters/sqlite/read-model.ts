/** Read models on a SQLite file: views and the partition's cursor change in one transaction, or not at all. */
import type { DatabaseSync } from "node:sqlite";
import type { Offset, SessionId } from "../../core/brand.ts";
import type { ReadModel, ViewWrite } from "../../ports/index.ts";
import { patiently, rollback } from "./database.ts";
import { createViewList } from "./view-list.ts";
import { openViewsFile, viewsError } from "./views-file.ts";

export interface SqliteReadModelOptions {
  /** The data folder. */
  readonly folder: string;
  /** The ledger whose views are meant; those of another are dropped. */
  readonly ledgerId: string;
}

/** The projection that is read until another one is chosen. */
const FIRST = "main";
const ALIVE_CHUNK = 200;

/** Throws `views_newer`, or `views_unreachable` where the file cannot be used. */
export function openSqliteReadModel({ folder, ledgerId }: SqliteReadModelOptions): ReadModel {
  const { db, path } = openViewsFile(folder, ledgerId);
  const write = createWriter(db, ledgerId);
  const list = createViewList(db);
  const find = db.prepare("SELECT id FROM projection WHERE ledger = ? AND name = ?");
  const cursors = db.prepare("SELECT partition, next FROM cursor WHERE projection = ?");
  const one = db.prepare("SELECT document FROM view WHERE projection = ? AND session = ?");
  const alive = createAliveReading(db);
  const names = db.prepare("SELECT name FROM projection WHERE ledger = ? ORDER BY name");
  const chosen = db.prepare("SELECT name FROM active WHERE ledger = ?");
  const choose = db.prepare("INSERT OR REPLACE INTO active(ledger, name) VALUES (?, ?)");
  const drop = db.prepare("DELETE FROM projection WHERE ledger = ? AND name = ?");
  /** 0 is no projection's id: reading it finds nothing. */
  const idOf = (name: string): number => Number(find.get(ledgerId, name)?.["id"] ?? 0);
  const run = async <T>(call: () => T): Promise<T> => {
    try {
      return await patiently(path, call);
    } catch (error) {
      throw viewsError(error, path);
    }
  };
  return {
    cursors: (projection) => run(() =>
      new Map(cursors.all(idOf(projection)).map((row) => [Number(row["partition"]), Number(row["next"]) as Offset]))),
    write: (projection, step) => run(() => write(projection, step)),
    get: (projection, sessionId) => run(() => (one.get(idOf(projection), sessionId)?.["document"] as string | undefined) ?? null),
    list: (projection, query) => run(() => list(idOf(projection), query)),
    alive: async function* (projection) {
      for (const page of [alive.running, alive.others]) {
        for (let after: AliveRow | null = null; ; ) {
          const from: AliveRow | null = after;
          const rows: readonly AliveRow[] = await run(() => page(idOf(projection), from));
          for (const { session, snapshot } of rows) yield { sessionId: session, snapshot };
          if (rows.length < ALIVE_CHUNK) break;
          after = rows.at(-1) ?? null;
        }
      }
    },
    projections: () => run(() => names.all(ledgerId).map((row) => String(row["name"]))),
    active: () => run(() => String(chosen.get(ledgerId)?.["name"] ?? FIRST)),
    use: async (projection) => {
      await run(() => choose.run(ledgerId, projection));
    },
    drop: async (projection) => {
      await run(() => drop.run(ledgerId, projection));
    },
    close: async () => {
      if (db.isOpen) db.close();
    },
  };
}

interface AliveRow {
  readonly session: SessionId;
  readonly snapshot: string;
  readonly at: number;
}
type AlivePage = (projection: number, after: AliveRow | null) => readonly AliveRow[];

/** Those that run come first, as many there are: who starts goes on with them while it still reads those that wait. */
function createAliveReading(db: DatabaseSync): { readonly running: AlivePage; readonly others: AlivePage } {
  const columns = "SELECT session, snapshot, at FROM view WHERE projection = ? AND snapshot IS NOT NULL";
  const running = db.prepare(`${columns} AND disposition = 'running' AND (at, session) > (?, ?) ORDER BY at, session LIMIT ${ALIVE_CHUNK}`);
  const others = db.prepare(`${columns} AND disposition <> 'running' AND session > ? ORDER BY session LIMIT ${ALIVE_CHUNK}`);
  return {
    running: (projection, after) => running.all(projection, after?.at ?? -1, after?.session ?? "") as unknown as readonly AliveRow[],
    others: (projection, after) => others.all(projection, after?.session ?? "") as unknown as readonly AliveRow[],
  };
}

interface Step {
  readonly partition: number;
  readonly from: Offset;
  readonly to: Offset;
  readonly views: readonly ViewWrite[];
}

function createWriter(db: DatabaseSync, ledgerId: string): (projection: string, step: Step) => boolean {
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const find = db.prepare("SELECT id FROM projection WHERE ledger = ? AND name = ?");
  const create = db.prepare("INSERT INTO projection(ledger, name) VALUES (?, ?)");
  const cursor = db.prepare("SELECT next FROM cursor WHERE projection = ? AND partition = ?");
  const move = db.prepare("INSERT OR REPLACE INTO cursor(projection, partition, next) VALUES (?, ?, ?)");
  const put = createPut(db);
  return (projection, { partition, from, to, views }) => {
    try {
      begin.run();
      const known = find.get(ledgerId, projection)?.["id"];
      const next = known === undefined ? 0 : Number(cursor.get(Number(known), partition)?.["next"] ?? 0);
      if (next !== from) {
        rollback(db);
        return false;
      }
      const id = Number(known ?? create.run(ledgerId, projection).lastInsertRowid);
      for (const view of views) put(id, view);
      move.run(id, partition, to);
      commit.run();
      return true;
    } catch (error) {
      rollback(db);
      throw error;
    }
  };
}

/** Writes one view. Labels hardly ever change after the first write, so their rows are touched only where they do. */
function createPut(db: DatabaseSync): (projection: number, view: ViewWrite) => void {
  const before = db.prepare("SELECT id, labels FROM view WHERE projection = ? AND session = ?");
  const insert = db.prepare("INSERT INTO view(projection, session, disposition, at, labels, document, snapshot) VALUES (?, ?, ?, ?, ?, ?, ?)");
  const update = db.prepare("UPDATE view SET disposition = ?, at = ?, labels = ?, document = ?, snapshot = ? WHERE id = ?");
  const unlabel = db.prepare("DELETE FROM label WHERE view = ?");
  const label = db.prepare("INSERT INTO label(label, view) VALUES (?, ?)");
  return (projection, view) => {
    const { sessionId, disposition, at, document, snapshot } = view;
    const pairs = Object.entries(view.labels).map(([name, value]) => `${name}=${value}`);
    const labels = JSON.stringify(pairs);
    const old = before.get(projection, sessionId) as { id: number; labels: string } | undefined;
    const id = old?.id ?? Number(insert.run(projection, sessionId, disposition, at, labels, document, snapshot).lastInsertRowid);
    if (old !== undefined) update.run(disposition, at, labels, document, snapshot, id);
    if ((old?.labels ?? "[]") === labels) return;
    unlabel.run(id);
    for (const pair of pairs) label.run(pair, id);
  };
}
