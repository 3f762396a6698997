/**
 * Appending and reading back.
 *
 * A1. An acknowledgement proves nothing; the answer is the verdict that the own fold gives to exactly these bytes.
 * A2. A retry sends the same bytes. An append whose fate is unknown is read back before anything else is done.
 * A3. Records that belong together are one atomic batch, split only where a failpoint stands in it.
 */
import type { Seq, SessionId } from "../core/brand.ts";
import type { Actor } from "../core/events/envelope.ts";
import type { Verdict } from "../core/session/evolve.ts";
import { dueTimers, isLastOwed, nextDerived } from "../core/session/derive.ts";
import type { SessionState } from "../core/session/state.ts";
import { isLoopledgerError } from "../core/errors.ts";
import type { Draft, Written } from "./author.ts";
import type { Engine } from "./engine.ts";
import { around } from "./failpoints.ts";

/** How long an unacknowledged append is waited for before the same bytes are sent again, in ms. */
const resendMs = 1_000;

export const schedulerActor = (engine: Engine): Actor => ({ kind: "scheduler", id: engine.ownerId });

/** Appends the records and gives the verdict of each, in order. */
export function appendAll(engine: Engine, sessionId: SessionId, records: readonly Written[]): Promise<Verdict[]> {
  const parts = engine.failpoints.anyArmed || !engine.guards.batchAtomicity || !engine.guards.readBack;
  return parts || records.length === 0 ? appendInParts(engine, sessionId, records) : appendWhole(engine, sessionId, records);
}

/** Nothing can part the batch: it goes out as it is, and its verdicts are all that is waited for. */
function appendWhole(engine: Engine, sessionId: SessionId, group: readonly Written[]): Promise<Verdict[]> {
  const { promise: readBack, resolve, reject } = Promise.withResolvers<Verdict[]>();
  engine.folds.expect(group, resolve);
  const since = engine.clock.monotonic();
  engine.ledger.append(sessionId, textsOf(group)).catch((error: unknown) => void sendAgain(engine, sessionId, { group, readBack, since, error }).catch(reject));
  return readBack;
}

async function appendInParts(engine: Engine, sessionId: SessionId, records: readonly Written[]): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const group of groups(engine, records)) {
    const first = group[0]?.record;
    const last = group.at(-1)?.record;
    await engine.failpoints.pass(first && around(first).before);
    const readBack = new Promise<Verdict[]>((settle) => engine.folds.expect(group, settle));
    const since = engine.clock.monotonic();
    await Promise.race([engine.ledger.append(sessionId, textsOf(group)), readBack]).catch((error: unknown) => sendAgain(engine, sessionId, { group, readBack, since, error }));
    for (const point of (last && around(last).after) ?? []) await engine.failpoints.pass(point);
    verdicts.push(...(readsBack(engine, group) ? await readBack : group.map(() => acknowledged)));
  }
  return verdicts;
}
const textsOf = (group: readonly Written[]): string[] => group.map((one) => one.text);

/** Without the guard an intent counts as soon as it is acknowledged. */
function readsBack(engine: Engine, group: readonly Written[]): boolean {
  return engine.guards.readBack || group.every((one) => one.record.type !== "tool_requested");
}
const acknowledged: Verdict = { kind: "accepted", seq: 0 as Seq };

/** A batch is whole unless a failpoint is armed between two of its records. */
function groups(engine: Engine, records: readonly Written[]): Written[][] {
  const result: Written[][] = [];
  let current: Written[] = [];
  for (const one of records) {
    const points = around(one.record);
    if (current.length > 0 && (engine.failpoints.armed(points.before) || !engine.guards.batchAtomicity)) {
      result.push(current);
      current = [];
    }
    current.push(one);
    if (engine.failpoints.armed(...(points.after ?? []))) {
      result.push(current);
      current = [];
    }
  }
  return current.length > 0 ? [...result, current] : result;
}

interface Unsent {
  readonly group: readonly Written[];
  readonly readBack: Promise<unknown>;
  /** When it was sent first, in monotonic ms. */
  readonly since: number;
  /** What the first append threw. */
  readonly error: unknown;
}

/** After an append that failed: the same bytes again and again, until they are acknowledged or read back. Throws where that is of no use, or lasts too long. */
async function sendAgain(engine: Engine, sessionId: SessionId, { group, readBack, since, ...first }: Unsent): Promise<void> {
  let { error } = first;
  for (let attempt = 1; ; attempt++) {
    const stop = isLoopledgerError(error) && error.then === "stop";
    if (stop || engine.clock.monotonic() - since >= engine.patienceMs) {
      for (const one of group) engine.folds.abandon(one);
      throw error;
    }
    // The first time, and then ever more rarely: it may last for hours.
    if (Number.isInteger(Math.log2(attempt))) engine.log.warn({ err: error, session: sessionId, attempt }, "append not acknowledged; the same bytes are sent again");
    const pause = new Promise<"again">((resolve) => { engine.clock.after(resendMs, () => resolve("again")); });
    if ((await Promise.race([pause, readBack])) !== "again") return;
    try {
      await Promise.race([engine.ledger.append(sessionId, textsOf(group)), readBack]);
      return;
    } catch (failed) {
      error = failed;
    }
  }
}

/** The records, and behind them what the fold will say is owed once they are accepted. */
export function withDerived(engine: Engine, state: SessionState, records: readonly Written[]): Written[] {
  let ahead = state;
  const batch: Written[] = [];
  /** Takes one more in where the fold would accept it, or `always`. */
  const add = (written: Written, always: boolean): boolean => {
    const step = engine.folds.simulate(ahead, written);
    const accepted = step.verdict.kind === "accepted";
    if (!accepted && !always) return false;
    batch.push(accepted ? { record: written.record, text: written.text, running: { before: ahead.digest, after: step.state.digest } } : written);
    ahead = step.state;
    return true;
  };
  for (const one of records) add(one, true);
  for (let owed = nextDerived(ahead); owed; owed = nextDerived(ahead)) {
    const written = engine.author.derive(state.sessionId, owed, schedulerActor(engine));
    if (isLastOwed(ahead, owed)) return [...batch, written];
    if (batch.some((one) => one.record.eventId === written.record.eventId) || !add(written, false)) break;
  }
  return batch;
}

/** One act of a person or program, with what follows from it. The verdict is the act's. */
export async function appendAct(engine: Engine, sessionId: SessionId, draft: Draft): Promise<Verdict> {
  const state = draft.type === "approval_decided" ? await afterExpiry(engine, sessionId) : await engine.folds.open(sessionId);
  const written = engine.author.write(sessionId, draft);
  const [verdict] = await appendAll(engine, sessionId, withDerived(engine, state, [written]));
  return verdict ?? { kind: "void", reason: "malformed" };
}

/** An answer that comes too late finds its request expired, also where no scheduler runs: what came due is written before it. */
export async function afterExpiry(engine: Engine, sessionId: SessionId): Promise<SessionState> {
  if (!(await writeDue(engine, sessionId))) return engine.folds.open(sessionId);
  await appendAll(engine, sessionId, withDerived(engine, await engine.folds.open(sessionId), []));
  return engine.folds.open(sessionId);
}

/** Writes the timers of a session that came due, as any scheduler would; false where there is none. */
export async function writeDue(engine: Engine, sessionId: SessionId): Promise<boolean> {
  const due = dueTimers(await engine.folds.open(sessionId), engine.logClock.now(), engine.ids.sha256);
  if (due.length > 0) await appendAll(engine, sessionId, due.map((one) => engine.author.derive(sessionId, one, schedulerActor(engine))));
  return due.length > 0;
}
