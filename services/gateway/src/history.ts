/**
 * What is on the ledger already, judged anew: a session's records from a seq on, or a partition's from an offset on.
 * It folds by itself, so that verdicts and seqs are those of the fold and not of a view.
 */
import type { EventId, Offset, SessionId } from "@loopledger/shared/core/brand";
import { type Parsed, parseRecord } from "@loopledger/shared/core/events/parse";
import { isLedgerKey } from "@loopledger/shared/core/placement";
import { type Evolve, type Verdict, makeEvolve } from "@loopledger/shared/core/session/evolve";
import { type SessionState, emptySession } from "@loopledger/shared/core/session/state";
import type { LogEntry } from "@loopledger/shared/ports";
import { type Engine, readStretch, type Stretch } from "@loopledger/shared/runtime";
import { Row } from "./feed.ts";

export interface Judged {
  readonly entry: LogEntry;
  readonly parsed: Parsed;
  readonly verdict: Verdict;
  readonly state: SessionState;
  /** The seq of the record's cause; undefined where it has none, or where the cause was never accepted. */
  readonly causeSeq: number | undefined;
}
/** Entries that are folded in one turn of the event loop. */
const turn = 200;
const piece = 500;
const statesMax = 500;

class Judge {
  readonly #evolve: Evolve;
  readonly #engine: Engine;
  readonly seqs: Map<EventId, number>;
  state: SessionState;

  constructor(engine: Engine, sessionId: SessionId, from?: Pick<Bookmark, "state" | "seqs">) {
    this.#engine = engine;
    this.#evolve = makeEvolve(engine.guards);
    this.state = from?.state ?? emptySession(sessionId);
    this.seqs = from?.seqs ?? new Map();
  }
  take(entry: LogEntry): Judged {
    const parsed = parseRecord(entry.value);
    const { state, verdict } = this.#evolve(this.state, { ...entry, parsed, text: entry.value ?? "", verified: "off" }, this.#engine.ids.sha256);
    this.state = state;
    if (parsed.kind !== "record") return { entry, parsed, verdict, state, causeSeq: undefined };
    if (verdict.kind === "accepted") this.seqs.set(parsed.record.eventId, verdict.seq);
    return { entry, parsed, verdict, state, causeSeq: parsed.record.cause && this.seqs.get(parsed.record.cause.eventId) };
  }
}

/** Where a reading of a session may go on: the state after a seq, the next offset, and the seqs of what was accepted before. */
export interface Bookmark { readonly state: SessionState; readonly next: Offset; readonly seqs: Map<EventId, number> }

/** A session's entries with the fold's verdicts, from its beginning or from a bookmark. */
export async function* judgeSession(engine: Engine, sessionId: SessionId, from?: Pick<Bookmark, "state" | "next" | "seqs">): AsyncGenerator<Judged> {
  const judge = new Judge(engine, sessionId, from);
  let taken = 0;
  for (const entry of await engine.ledger.readSession(sessionId, from?.next)) {
    yield judge.take(entry);
    if (++taken % turn === 0) await nextTurn();
  }
}

/** The accepted records of a session after a seq. */
export async function* sessionRows(engine: Engine, sessionId: SessionId, after: number): AsyncGenerator<Row> {
  for await (const { entry, parsed, verdict, causeSeq } of judgeSession(engine, sessionId)) {
    if (verdict.kind !== "accepted" || verdict.seq <= after || parsed.kind !== "record") continue;
    yield new Row(parsed.record, { partition: entry.partition, offset: entry.offset, seq: verdict.seq }, causeSeq);
  }
}

/** Fills in what a live row does not know of its cause. */
export async function tellCause(engine: Engine, row: Row): Promise<void> {
  const { sessionId, cause } = row.record;
  for await (const { parsed, verdict } of judgeSession(engine, sessionId)) {
    if (verdict.kind === "accepted" && parsed.kind === "record" && parsed.record.eventId === cause?.eventId) return row.tellCause(verdict.seq);
  }
  row.tellCause(undefined);
}

/** The accepted records of a partition, in order. What a session was before is read when its first entry comes. */
export async function* partitionRows(engine: Engine, stretch: Required<Stretch>): AsyncGenerator<Row> {
  const judges = new Map<SessionId, Judge>();
  const { partition } = stretch;
  for await (const entries of readStretch(engine.ledger, stretch, piece)) {
    for (const entry of entries) {
      if (isLedgerKey(entry.key)) continue;
      const judge = judges.get(entry.key as SessionId) ?? (await judgeBefore(engine, entry));
      keep(judges, judge);
      const { parsed, verdict, causeSeq } = judge.take(entry);
      if (verdict.kind === "accepted" && parsed.kind === "record") yield new Row(parsed.record, { partition, offset: entry.offset, seq: verdict.seq }, causeSeq);
    }
    await nextTurn();
  }
}

async function judgeBefore(engine: Engine, entry: LogEntry): Promise<Judge> {
  const judge = new Judge(engine, entry.key as SessionId);
  let taken = 0;
  for (const one of await engine.ledger.readSession(entry.key as SessionId)) {
    if (one.offset >= entry.offset) break;
    judge.take(one);
    if (++taken % turn === 0) await nextTurn();
  }
  return judge;
}
/** Those that were used last stay. */
function keep(judges: Map<SessionId, Judge>, judge: Judge): void {
  judges.delete(judge.state.sessionId);
  judges.set(judge.state.sessionId, judge);
  const [oldest] = judges.keys();
  if (judges.size > statesMax && oldest !== undefined) judges.delete(oldest);
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
