/** The two streams: one session's events by seq, and all sessions' by the positions of the ledger's partitions. */
import type { Offset, SessionId } from "@loopledger/shared/core/brand";
import type { Engine } from "@loopledger/shared/runtime";
import { type Vector, aheadOf, formatCursor, parseCursor, parseSeq } from "./cursor.ts";
import type { Feed, Row } from "./feed.ts";
import { partitionRows, sessionRows } from "./history.ts";
import { Problem } from "./problems.ts";
import type { Reading } from "./stream.ts";

export interface Streaming {
  readonly engine: Engine;
  readonly feed: Feed;
}

/** A session's events after a seq. Throws `invalid_cursor` and `cursor_ahead`: before anything is sent. */
export async function readSessionFrom({ engine, feed }: Streaming, sessionId: SessionId, cursor: string | undefined): Promise<Reading> {
  const after = parseSeq(cursor ?? "0");
  if (after === null) throw new Problem("invalid_cursor", `"${shown(cursor)}" is no cursor of a session's stream: it is the seq of the last event that was read.`);
  if (after > (await engine.folds.open(sessionId)).seq) await engine.folds.caughtUp();
  const { seq, position } = await engine.folds.open(sessionId);
  if (after > seq) throw new Problem("cursor_ahead", `The cursor is ${after}, and the session's last event is ${seq}.`);
  const partition = position?.partition ?? engine.ledger.partitionOf(sessionId);
  let sent = after;
  /** What the history holds reaches at least this far. */
  let covered = 0;
  return {
    history: () => {
      covered = feed.to.get(partition) ?? 0;
      return sessionRows(engine, sessionId, sent);
    },
    next: (row) => {
      if (row.sessionId !== sessionId || row.seq <= sent) return null;
      if (row.seq !== sent + 1) throw new Error(`after seq ${sent} of ${sessionId} came ${row.seq}`);
      sent = row.seq;
      return String(sent);
    },
    joins: () => (feed.from.get(partition) ?? 0) <= covered,
  };
}

/** All sessions' events from a cursor on; without one from now on; from the ledger's beginning with `start`. */
export async function readAllFrom({ engine, feed }: Streaming, cursor: string | undefined): Promise<Reading> {
  const positions = new Map(cursor === undefined ? feed.to : await positionsOf(engine, cursor));
  return {
    async *history() {
      for (const [partition, to] of feed.from) {
        const from = positions.get(partition) ?? (0 as Offset);
        if (from >= to) continue;
        yield* partitionRows(engine, { partition, from, to });
        // Refused records at the end of the range moved nothing yet.
        positions.set(partition, Math.max(to, positions.get(partition) ?? 0) as Offset);
      }
    },
    next: (row: Row) => {
      if (row.offset < (positions.get(row.partition) ?? 0)) return null;
      positions.set(row.partition, (row.offset + 1) as Offset);
      return formatCursor(engine.ledger, positions);
    },
    joins: () => [...feed.from].every(([partition, from]) => (positions.get(partition) ?? 0) >= from),
  };
}

/** Throws `invalid_cursor`, `cursor_gone` and `cursor_ahead`. */
async function positionsOf(engine: Engine, cursor: string): Promise<Vector> {
  if (cursor === "start") return new Map();
  const read = parseCursor(engine.ledger, cursor);
  if (read.kind === "malformed") throw new Problem("invalid_cursor", `"${shown(cursor)}" is no cursor of the stream of all sessions.`);
  if (read.kind === "gone") throw new Problem("cursor_gone", "The cursor belongs to another ledger.");
  const ahead = aheadOf(read.positions, await engine.ledger.end());
  if (ahead !== null) throw new Problem("cursor_ahead", `In partition ${ahead} the cursor lies behind the ledger's end.`);
  return read.positions;
}

function shown(cursor: string | undefined): string {
  return (cursor ?? "").slice(0, 100);
}
