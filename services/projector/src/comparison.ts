/** Fresh read models from the ledger, and whether one that stands equals a fresh fold, byte for byte. Neither acts on anything. */
import type { Offset, SessionId } from "@loopledger/shared/core/brand";
import { parseRecord } from "@loopledger/shared/core/events/parse";
import { isLedgerKey } from "@loopledger/shared/core/placement";
import { makeEvolve } from "@loopledger/shared/core/session/evolve";
import type { Snapshot } from "@loopledger/shared/core/session/snapshot";
import { emptySession } from "@loopledger/shared/core/session/state";
import type { LogEntry, ReadModel } from "@loopledger/shared/ports";
import { type Engine, readStretch, type Stretch } from "@loopledger/shared/runtime";
import { startProjector } from "./projector.ts";
import { viewOf } from "./view.ts";

/** Folds the ledger into this projection as far as it goes now: a new one from the beginning, one that stands from its cursors. */
export async function rebuild(engine: Engine, projection: string): Promise<void> {
  const projector = await startProjector(engine, { projection, apart: true, once: true });
  try {
    await projector.caughtUp();
  } finally {
    await projector.stop();
  }
}

export interface Comparison {
  readonly equal: boolean;
  /** Sessions looked at. */
  readonly sessions: number;
  readonly differing: readonly SessionId[];
}

/**
 * Folds the ledger anew up to the projection's cursors and compares every document. A projection that is being written
 * meanwhile is compared with every state between its cursors before and after.
 */
export async function compare(engine: Engine, projection: string): Promise<Comparison> {
  const { views, ledger } = engine;
  if (!views) throw new TypeError("There is no store of views.");
  const before = await views.cursors(projection);
  const documents = await readDocuments(views, projection);
  const after = await views.cursors(projection);
  const differing: SessionId[] = [];
  const known = new Set<SessionId>();
  for (let partition = 0; partition < ledger.partitions; partition++) {
    const range = { partition, from: before.get(partition) ?? (0 as Offset), to: after.get(partition) ?? (0 as Offset) };
    for (const [sessionId, expected] of await foldPartition(engine, range)) {
      if (expected.some((one) => one !== null)) known.add(sessionId);
      const document = documents.get(sessionId) ?? (await views.get(projection, sessionId));
      if (!expected.includes(document)) differing.push(sessionId);
    }
  }
  for (const sessionId of documents.keys()) if (!known.has(sessionId) && !differing.includes(sessionId)) differing.push(sessionId);
  return { equal: differing.length === 0, sessions: new Set([...known, ...documents.keys()]).size, differing: differing.sort() };
}

async function readDocuments(views: ReadModel, projection: string): Promise<Map<SessionId, string>> {
  const documents = new Map<SessionId, string>();
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page = await views.list(projection, { limit: 500, ...(cursor !== "" && { cursor }) });
    for (const { sessionId, document } of page.items) documents.set(sessionId, document);
    cursor = page.next;
  }
  return documents;
}


/** The documents that each session may have: the one at `from`, and those up to `to`. */
async function foldPartition(engine: Engine, { partition, from, to }: Required<Stretch>): Promise<Map<SessionId, (string | null)[]>> {
  const evolve = makeEvolve(engine.guards);
  const states = new Map<SessionId, Snapshot>();
  const expected = new Map<SessionId, (string | null)[]>();
  const note = (one: Snapshot): void => {
    const found = expected.get(one.state.sessionId) ?? [];
    expected.set(one.state.sessionId, [...found, viewOf(one)?.document ?? null]);
  };
  const atFrom = (): void => {
    for (const one of states.values()) note(one);
  };
  const step = (entry: LogEntry): void => {
    const sessionId = entry.key as SessionId;
    if (isLedgerKey(entry.key)) return;
    const old = states.get(sessionId)?.state ?? emptySession(sessionId);
    const { state } = evolve(old, { ...entry, parsed: parseRecord(entry.value), text: entry.value ?? "", verified: "off" }, engine.ids.sha256);
    const now = { state, next: (entry.offset + 1) as Offset };
    states.set(sessionId, now);
    if (entry.offset < from) return;
    if (!expected.has(sessionId)) expected.set(sessionId, [null]);
    note(now);
  };
  let passed = false;
  for await (const entries of readStretch(engine.ledger, { partition, from: 0 as Offset, to })) {
    for (const entry of entries) {
      if (!passed && entry.offset >= from) atFrom();
      passed ||= entry.offset >= from;
      step(entry);
    }
  }
  if (!passed) atFrom();
  return expected;
}
