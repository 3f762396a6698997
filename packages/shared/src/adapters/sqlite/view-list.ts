/** Lists of views, newest first, a page at a time. A page begins after the last row of the one before, so rows that arrive meanwhile move nothing. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { SessionId } from "../../core/brand.ts";
import { formatViewCursor, parseViewCursor } from "../../core/view-cursor.ts";
import type { ViewPage } from "../../ports/index.ts";

interface Query {
  readonly disposition?: string;
  readonly label?: string;
  readonly cursor?: string;
  readonly limit: number;
}
interface Row {
  readonly session: SessionId;
  readonly document: string;
  readonly at: number;
}

export function createViewList(db: DatabaseSync): (projection: number, query: Query) => ViewPage {
  const statements = new Map<string, StatementSync>();
  const prepare = (sql: string): StatementSync => {
    const statement = statements.get(sql) ?? db.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  return (projection, { disposition, label, cursor, limit }) => {
    const where = ["v.projection = :projection"];
    const values: Record<string, string | number> = { projection, limit: limit + 1 };
    let from = "view v";
    if (label !== undefined) {
      from = "label l JOIN view v ON v.id = l.view";
      where.push("l.label = :label");
      values["label"] = label;
    }
    if (disposition !== undefined) {
      where.push("v.disposition = :disposition");
      values["disposition"] = disposition;
    }
    if (cursor !== undefined) {
      const { at, sessionId } = parseViewCursor(cursor);
      where.push("(v.at, v.session) < (:at, :session)");
      Object.assign(values, { at, session: sessionId });
    }
    const sql = `SELECT v.session, v.document, v.at FROM ${from} WHERE ${where.join(" AND ")} ORDER BY v.at DESC, v.session DESC LIMIT :limit`;
    const rows = prepare(sql).all(values) as unknown as readonly Row[];
    const items = rows.slice(0, limit);
    const last = items.at(-1);
    return {
      items: items.map(({ session, document }) => ({ sessionId: session, document })),
      next: rows.length > limit && last !== undefined ? formatViewCursor({ at: last.at, sessionId: last.session }) : null,
    };
  };
}
