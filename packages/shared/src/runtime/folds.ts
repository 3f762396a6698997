/**
 * The fold cache: the current state of the sessions that this process looks at, kept by folding the ledger's tail,
 * and the read-back of what this process appended.
 *
 * R1. States change only by folding entries in log order; a session's entries are folded once each, from any starting point.
 * R2. A read-back answers with the verdict that the own fold gave to exactly the text that was appended.
 * R3. Listeners never stop the fold: what they throw is reported and goes no further.
 * R4. `folded` never passes an entry that has not been folded: a session whose history is still being read, or could not be
 *     read and is tried again, holds its partition's position back.
 */
import type { LogTime, Offset, SessionId } from "../core/brand.ts";
import type { LedgerRecord } from "../core/events/envelope.ts";
import { type Parsed, parseRecord } from "../core/events/parse.ts";
import { type Evolve, type FoldEntry, type Verdict, evolve as fold } from "../core/session/evolve.ts";
import { type SessionState, emptySession } from "../core/session/state.ts";
import type { Ids, Ledger, LogEntry, Positions, Subscription } from "../ports/index.ts";
import type { Written } from "./author.ts";

export interface Change {
  readonly sessionId: SessionId;
  readonly state: SessionState;
  readonly record: LedgerRecord | null;
  readonly verdict: Verdict;
  readonly entry: LogEntry;
}
export interface FoldsOptions {
  readonly ledger: Ledger;
  readonly ids: Ids;
  readonly evolve?: Evolve;
  /** Sessions to follow; all where it is left out. */
  readonly only?: (sessionId: SessionId) => boolean;
  /** Most sessions kept in memory; those at rest leave first. */
  readonly sessionsMax?: number;
  /** Calls again after a moment: for a session whose history could not be read. Without it the session's next entry does. */
  readonly later?: (call: () => void) => void;
  /** Told of the append time of every entry that is folded; `own` where this process waits for its verdict. */
  readonly heard?: (time: LogTime, own: boolean) => void;
  readonly report: (error: unknown, what: string) => void;
}
interface Kept {
  state: SessionState;
  /** First offset that has not been folded. */
  next: Offset;
}
type Listener = (change: Change) => void;
/** A text of this process on its way, and who waits for its verdict: two who derive the same record in the same millisecond write the same text. */
interface Own { readonly parsed: Parsed; readonly waiters: ((verdict: Verdict) => void)[] }

export class Folds {
  readonly #options: FoldsOptions;
  readonly #evolve: Evolve;
  readonly #kept = new Map<SessionId, Kept>();
  readonly #loading = new Map<SessionId, { readonly ready: Promise<Kept>; readonly queued: LogEntry[] }>();
  /** Entries of sessions whose history could not be read. */
  readonly #missed = new Map<SessionId, LogEntry[]>();
  /** Next entry that the subscription hands over, of each partition. */
  readonly #next = new Map<number, Offset>();
  readonly #foldedListeners = new Set<() => void>();
  readonly #own = new Map<string, Own>();
  readonly #listeners = new Set<Listener>();
  readonly #followers = new Map<SessionId, Set<Listener>>();
  #subscription: Subscription | null = null;

  constructor(options: FoldsOptions) {
    this.#options = options;
    this.#evolve = options.evolve ?? fold;
  }

  /** Follows the tail from here on; earlier history of a session is read when it is first needed. */
  async start(from: Positions): Promise<void> {
    for (const [partition, offset] of from) this.#next.set(partition, offset);
    this.#subscription = await this.#options.ledger.subscribe(from, (entries) => this.#take(entries));
  }
  async caughtUp(): Promise<void> {
    await this.#subscription?.caughtUp();
    await Promise.all([...this.#loading.values()].map((one) => one.ready.catch(() => undefined)));
  }
  async close(): Promise<void> {
    await this.#subscription?.close();
    this.#subscription = null;
  }

  /** True from `start` to `close`. */
  get following(): boolean {
    return this.#subscription !== null;
  }
  /** Every session is followed, so that every entry passes the listeners. */
  get complete(): boolean {
    return this.#options.only === undefined;
  }
  /** Next offset that is handed to the fold, of each partition that is followed. Whoever listens from now on hears of every entry from there on. */
  handed(): ReadonlyMap<number, Offset> {
    return new Map(this.#next);
  }
  /** Next offset of each partition that is followed: every entry before it, from where this began, has been folded. */
  folded(): Map<number, Offset> {
    const positions = new Map(this.#next);
    const queues = [...[...this.#loading.values()].map((one) => one.queued), ...this.#missed.values()];
    for (const first of queues.flatMap((queue) => queue[0] ?? [])) {
      if (first.offset < (positions.get(first.partition) ?? 0)) positions.set(first.partition, first.offset);
    }
    return positions;
  }
  /** Sessions whose history was read further than entries have been handed over: whoever begins to listen now hears of no entry before `next`. */
  ahead(): { readonly partition: number; readonly state: SessionState; readonly next: Offset }[] {
    return [...this.#kept].flatMap(([sessionId, { state, next }]) => {
      const partition = this.#options.ledger.partitionOf(sessionId);
      return next > (this.#next.get(partition) ?? 0) ? [{ partition, state, next }] : [];
    });
  }
  /** Called after entries have been folded, once a piece of the log: `folded` may have moved. */
  onFolded(listener: () => void): () => void {
    this.#foldedListeners.add(listener);
    return () => this.#foldedListeners.delete(listener);
  }

  /** Every change of every session that is kept. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
  /** The changes of one session. */
  follow(sessionId: SessionId, listener: Listener): () => void {
    const followers = this.#followers.get(sessionId) ?? new Set();
    this.#followers.set(sessionId, followers.add(listener));
    return () => {
      followers.delete(listener);
      if (followers.size === 0 && this.#followers.get(sessionId) === followers) this.#followers.delete(sessionId);
    };
  }

  /** The state in memory; undefined where the session is not kept. */
  peek(sessionId: SessionId): SessionState | undefined {
    return this.#kept.get(sessionId)?.state;
  }
  ids(): SessionId[] {
    return [...this.#kept.keys()];
  }
  /** The state as of everything in the ledger when it was first read, kept up to date from then on. */
  async open(sessionId: SessionId): Promise<SessionState> {
    const kept = this.#kept.get(sessionId);
    return kept ? kept.state : (await this.#load(sessionId)).state;
  }
  /** Puts a snapshot in place; entries from `next` on are folded on top of it. */
  seed(state: SessionState, next: Offset): void {
    if (!this.#kept.has(state.sessionId)) this.#kept.set(state.sessionId, { state, next });
  }
  forget(sessionId: SessionId): void {
    this.#kept.delete(sessionId);
  }

  /** What the fold would say, without writing anything. */
  simulate(state: SessionState, written: Written): { readonly state: SessionState; readonly verdict: Verdict } {
    const at = state.position ?? { partition: this.#options.ledger.partitionOf(state.sessionId), offset: 0 as Offset };
    const time = state.at ?? (0 as never);
    return this.#judge(state, { parsed: { kind: "record", record: written.record }, text: written.text, key: state.sessionId, time, verified: "off", ...at });
  }

  /** Waits for the verdict on a text that is about to be appended. Called before the append. */
  expect(written: Written): Promise<Verdict> {
    const own = this.#own.get(written.text) ?? { parsed: { kind: "record", record: written.record }, waiters: [] };
    this.#own.set(written.text, own);
    return new Promise((settle) => own.waiters.push(settle));
  }
  /** Gives a read-back up: the append is known not to be there, or nobody waits any more. */
  abandon(written: Written): void {
    const own = this.#own.get(written.text);
    own?.waiters.pop();
    if (own?.waiters.length === 0) this.#own.delete(written.text);
  }

  #take(entries: readonly LogEntry[]): void {
    for (const entry of entries) {
      this.#next.set(entry.partition, (entry.offset + 1) as Offset);
      const sessionId = entry.key as SessionId;
      if (this.#options.only && !this.#options.only(sessionId)) continue;
      const loading = this.#loading.get(sessionId);
      const kept = this.#kept.get(sessionId);
      if (kept) this.#apply(kept, entry);
      else if (loading) loading.queued.push(entry);
      else if (!sessionId.startsWith("_ledger/")) this.#meet(sessionId, [entry]);
    }
    this.#tellFolded();
  }

  /** Entries of a session that is not kept: its history is read first. */
  #meet(sessionId: SessionId, entries: readonly LogEntry[]): void {
    const ready = this.#load(sessionId);
    this.#loading.get(sessionId)?.queued.push(...entries);
    ready.catch((error: unknown) => this.#options.report(error, `reading session ${sessionId}`));
  }

  #load(sessionId: SessionId): Promise<Kept> {
    const under = this.#loading.get(sessionId);
    if (under) return under.ready;
    const queued = this.#missed.get(sessionId) ?? [];
    this.#missed.delete(sessionId);
    const ready = this.#read(sessionId, queued).finally(() => {
      this.#loading.delete(sessionId);
      if (queued.length > 0) this.#miss(sessionId, queued);
      this.#tellFolded();
    });
    this.#loading.set(sessionId, { ready, queued });
    return ready;
  }
  #miss(sessionId: SessionId, queued: LogEntry[]): void {
    this.#missed.set(sessionId, queued);
    this.#options.later?.(() => {
      if (this.#missed.has(sessionId) && this.#subscription) this.#meet(sessionId, []);
    });
  }
  async #read(sessionId: SessionId, queued: LogEntry[]): Promise<Kept> {
    const entries = await this.#options.ledger.readSession(sessionId);
    const kept: Kept = { state: emptySession(sessionId), next: 0 as Offset };
    this.#makeRoom();
    this.#kept.set(sessionId, kept);
    for (const entry of entries) this.#apply(kept, entry);
    for (const entry of queued.splice(0)) this.#apply(kept, entry);
    return kept;
  }

  #apply(kept: Kept, entry: LogEntry): void {
    if (entry.offset < kept.next) return;
    const parsed = this.#parse(entry);
    this.#options.heard?.(entry.time, this.#own.has(entry.value ?? ""));
    const { state, verdict } = this.#judge(kept.state, {
      parsed, text: entry.value ?? "", key: entry.key, time: entry.time, partition: entry.partition, offset: entry.offset, verified: "off",
    });
    kept.state = state;
    kept.next = (entry.offset + 1) as Offset;
    const record = parsed.kind === "record" ? parsed.record : null;
    this.#readBack(entry.value ?? "", verdict);
    const change: Change = { sessionId: entry.key as SessionId, state, record, verdict, entry };
    for (const listener of this.#followers.get(change.sessionId) ?? []) this.#tell(listener, change);
    for (const listener of this.#listeners) this.#tell(listener, change);
  }

  #judge(state: SessionState, entry: FoldEntry): { readonly state: SessionState; readonly verdict: Verdict } {
    return this.#evolve(state, entry, this.#options.ids.sha256);
  }
  #parse(entry: LogEntry): Parsed {
    return this.#own.get(entry.value ?? "")?.parsed ?? parseRecord(entry.value);
  }
  /** One copy is enough: the first that the fold meets answers everybody who waits for this text. */
  #readBack(text: string, verdict: Verdict): void {
    const own = this.#own.get(text);
    if (!own) return;
    this.#own.delete(text);
    for (const settle of own.waiters) settle(verdict);
  }
  #tell(listener: Listener, change: Change): void {
    try {
      listener(change);
    } catch (error) {
      this.#options.report(error, `a listener of session ${change.sessionId}`);
    }
  }

  #tellFolded(): void {
    for (const listener of this.#foldedListeners) {
      try {
        listener();
      } catch (error) {
        this.#options.report(error, "a listener of the fold");
      }
    }
  }

  /** Bounded memory: sessions that have ended leave first, oldest first. */
  #makeRoom(): void {
    const max = this.#options.sessionsMax ?? 20_000;
    if (this.#kept.size < max) return;
    for (const [id, kept] of this.#kept) {
      if (kept.state.end && !kept.state.statusOwed) this.#kept.delete(id);
      if (this.#kept.size < max * 0.9) return;
    }
  }
}
