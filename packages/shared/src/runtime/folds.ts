/**
 * The fold cache: the current state of the sessions that this process looks at, kept by folding the ledger's tail,
 * and the read-back of what this process appended.
 *
 * R1. States change only by folding entries in log order; a session's entries are folded once each, from any starting point.
 * R2. A read-back answers with the verdict that the own fold gave to exactly the text that was appended.
 * R3. Listeners never stop the fold: what they throw is reported, and what they missed is told to them again (`listeners.ts`).
 * R4. `folded` never passes an entry that has not been folded and told: a session whose history is still being read, could not
 *     be read and is tried again, or was missed by a listener holds its partition's position back.
 * R5. Where folding an entry throws, the session stands still at the state before it; it is read again from there until it has
 *     been folded, and no entry is skipped. Other sessions go on.
 */
import type { LogTime, Offset, SessionId } from "../core/brand.ts";
import { type Evolve, type FoldEntry, type Verdict, evolve as fold } from "../core/session/evolve.ts";
import { type SessionState, emptySession } from "../core/session/state.ts";
import type { Ids, Ledger, LogEntry, Positions, Subscription } from "../ports/index.ts";
import type { Written } from "./author.ts";
import type { Change } from "./change.ts";
import { type Kept, makeRoom } from "./kept.ts";
import { type Listener, Listeners, PositionListeners, SeedListeners } from "./listeners.ts";
import { type Own, ReadBacks, parsedOf } from "./read-backs.ts";
import { type Part, type Supervision, ownSupervision } from "./supervision.ts";

export interface FoldsOptions {
  readonly ledger: Ledger;
  readonly ids: Ids;
  readonly evolve?: Evolve;
  /** Sessions to follow; all where it is left out. */
  readonly only?: (sessionId: SessionId) => boolean;
  /** Most sessions kept in memory; those at rest leave first. */
  readonly sessionsMax?: number;
  /** Of the process; left out: one of its own. */
  readonly supervision?: Supervision;
  /** Told of the append time of every entry that is folded; `own` where this process waits for its verdict. */
  readonly heard?: (time: LogTime, own: boolean) => void;
  readonly report: (error: unknown, what: string) => void;
}

export class Folds {
  readonly #options: FoldsOptions;
  readonly #evolve: Evolve;
  readonly #kept = new Map<SessionId, Kept>();
  readonly #loading = new Map<SessionId, { readonly ready: Promise<Kept>; readonly queued: LogEntry[] }>();
  /** Entries of sessions whose history could not be read. */
  readonly #missed = new Map<SessionId, LogEntry[]>();
  /** Next entry that the subscription hands over, of each partition. */
  readonly #next = new Map<number, Offset>();
  readonly #positions: PositionListeners;
  readonly #own = new ReadBacks();
  readonly #gaps = new Set<Kept>();
  readonly #listeners: Listeners;
  /** Sessions whose history is read again after a pause. */
  readonly #retrying = new Set<SessionId>();
  readonly #seeds: SeedListeners;
  readonly #parts: { readonly fold: Part; readonly history: Part };
  #subscription: Subscription | null = null;

  constructor(options: FoldsOptions) {
    this.#options = options;
    this.#evolve = options.evolve ?? fold;
    const supervision = options.supervision ?? ownSupervision(options.report);
    this.#seeds = new SeedListeners(supervision);
    this.#parts = { fold: supervision.part("folds"), history: supervision.part("folds.history") };
    this.#positions = new PositionListeners(supervision);
    this.#listeners = new Listeners({
      ledger: options.ledger, supervision, judge: (state, entry) => this.#change(state, entry, this.#own.of(entry.key, entry.value)), caughtUp: () => this.#positions.tell(),
    });
  }

  /** Follows the tail from here on; earlier history of a session is read when it is first needed. */
  async start(from: Positions): Promise<void> {
    for (const [partition, offset] of from) this.#next.set(partition, offset);
    this.#subscription = await this.#options.ledger.subscribe(from, (entries) => this.#take(entries));
  }
  async caughtUp(): Promise<void> {
    await this.#subscription?.caughtUp();
    await Promise.all([...this.#loading.values()].map((one) => one.ready.catch(() => undefined)));
    await Promise.all([...this.#gaps].map((kept) => this.#mend(kept).catch(() => undefined)));
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
  handed(): Map<number, Offset> {
    return new Map([...this.#next].map(([partition, next]) => [partition, Math.max(next, this.#subscription?.passed?.get(partition) ?? 0) as Offset]));
  }
  /** Next offset of each partition that is followed: every entry before it, from where this began, has been folded. */
  folded(): Map<number, Offset> {
    const positions = this.handed();
    if (this.#loading.size + this.#missed.size + this.#gaps.size === 0 && this.#listeners.allHeard) return positions;
    const queues = [...[...this.#loading.values()].map((one) => one.queued), ...this.#missed.values()];
    const gaps = [...this.#gaps].flatMap(({ gap, next }) => (gap ? { partition: gap.partition, offset: Math.max(gap.first, next) as Offset } : []));
    for (const first of [...queues.flatMap((queue) => queue[0] ?? []), ...gaps, ...this.#listeners.missed()]) {
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
  onFolded(listener: () => void, name = "positions"): () => void {
    return this.#positions.add(listener, name);
  }

  /** Every change of every session that is kept. The name is the one under which readiness tells that the listener fails. */
  listen(listener: Listener, name = "listener"): () => void {
    return this.#listeners.add(listener, name);
  }
  /** The changes of one session. */
  follow(sessionId: SessionId, listener: Listener, name = "follower"): () => void {
    return this.#listeners.addFor(sessionId, listener, name);
  }

  /** The state in memory; undefined where the session is not kept. */
  peek(sessionId: SessionId): SessionState | undefined {
    return this.#kept.get(sessionId)?.state;
  }
  /** The same, where nothing that came in is missing from it: what `open` would give at once. */
  whole(sessionId: SessionId): SessionState | undefined {
    const kept = this.#kept.get(sessionId);
    return kept?.gap ? undefined : kept?.state;
  }
  ids(): SessionId[] {
    return [...this.#kept.keys()];
  }
  /** The state as of everything in the ledger when it was first read, kept up to date from then on. Throws where an entry cannot be folded. */
  async open(sessionId: SessionId): Promise<SessionState> {
    const kept = this.#kept.get(sessionId) ?? (await this.#load(sessionId));
    if (kept.gap) await this.#mend(kept);
    return kept.state;
  }
  /**
   * Puts a snapshot in place; entries from `next` on are folded on top of it. What is known of the session already stays as it is.
   * False where it holds entries that have not been handed over here: listeners would never hear of them, so the session has to be opened.
   */
  seed(state: SessionState, next: Offset): boolean {
    const { sessionId } = state;
    if (this.#kept.has(sessionId) || this.#loading.has(sessionId) || this.#missed.has(sessionId)) return true;
    if (this.#subscription && next > (this.#next.get(this.#options.ledger.partitionOf(sessionId)) ?? 0)) return false;
    this.#kept.set(sessionId, { state, next, gap: null });
    if (this.#subscription) this.#seeds.tell(state);
    return true;
  }
  /** Called with each state that is put in place after the start: its session has not changed, it is only known from now on. */
  onSeeded(listener: (state: SessionState) => void, name = "seeded"): () => void {
    return this.#seeds.add(listener, name);
  }
  forget(sessionId: SessionId): void {
    this.#kept.delete(sessionId);
  }

  /** What the fold would say, without writing anything. */
  simulate(state: SessionState, written: Written): { readonly state: SessionState; readonly verdict: Verdict } {
    const at = state.position ?? { partition: this.#options.ledger.partitionOf(state.sessionId), offset: 0 as Offset };
    const time = state.at ?? (0 as never);
    return this.#judge(state, {
      parsed: { kind: "record", record: written.record }, text: written.text, key: state.sessionId, time, verified: "off", partition: at.partition, offset: at.offset,
    });
  }

  expect(group: readonly Written[], settle: (verdicts: Verdict[]) => void): void {
    this.#own.expect(group, settle);
  }
  abandon(written: Written): void {
    this.#own.abandon(written);
  }

  #take(entries: readonly LogEntry[]): void {
    for (const entry of entries) {
      this.#next.set(entry.partition, (entry.offset + 1) as Offset);
      const sessionId = entry.key as SessionId;
      try {
        if (this.#options.only && !this.#options.only(sessionId)) continue;
        const kept = this.#kept.get(sessionId);
        if (!this.#isHome(kept, entry)) continue;
        if (kept) this.#apply(kept, entry);
        else if (!sessionId.startsWith("_ledger/")) this.#meet(sessionId, entry);
      } catch (error) {
        this.#miss(sessionId, [...(this.#missed.get(sessionId) ?? []), entry], error);
      }
    }
    this.#positions.tell();
  }

  /** What lies elsewhere than its key belongs is no session's: whoever reads the session's own partition never sees it, and its offset says nothing there. */
  #isHome(kept: Kept | undefined, { key, partition }: LogEntry): boolean {
    return kept?.state.position?.partition === partition || this.#options.ledger.partitionOf(key) === partition;
  }

  /** An entry of a session that is not kept: its history is read first, and again after a pause where that fails. */
  #meet(sessionId: SessionId, entry: LogEntry): void {
    this.#load(sessionId).catch(() => undefined);
    this.#loading.get(sessionId)?.queued.push(entry);
  }

  #load(sessionId: SessionId): Promise<Kept> {
    const under = this.#loading.get(sessionId);
    if (under) return under.ready;
    const queued = this.#missed.get(sessionId) ?? [];
    this.#missed.delete(sessionId);
    const over = (): void => void this.#loading.delete(sessionId);
    const ready = this.#read(sessionId, queued).then((kept) => {
      over();
      this.#positions.tell();
      return kept;
    }, (error: unknown) => {
      over();
      if (queued.length > 0) this.#miss(sessionId, queued, error);
      this.#positions.tell();
      throw error;
    });
    this.#loading.set(sessionId, { ready, queued });
    return ready;
  }
  #miss(sessionId: SessionId, queued: LogEntry[], error: unknown): void {
    this.#missed.set(sessionId, queued);
    if (this.#retrying.has(sessionId)) return;
    this.#retrying.add(sessionId);
    this.#parts.history.again(error, async () => {
      if (this.#missed.has(sessionId) && this.#subscription) await this.#load(sessionId);
      this.#retrying.delete(sessionId);
    }, sessionId);
  }
  async #read(sessionId: SessionId, queued: LogEntry[]): Promise<Kept> {
    const entries = await this.#options.ledger.readSession(sessionId);
    const kept: Kept = { state: emptySession(sessionId), next: 0 as Offset, gap: null };
    makeRoom(this.#kept, this.#options.sessionsMax ?? 20_000);
    this.#kept.set(sessionId, kept);
    for (const entry of entries) this.#apply(kept, entry);
    for (const entry of queued.splice(0)) this.#apply(kept, entry);
    return kept;
  }

  #apply(kept: Kept, entry: LogEntry): void {
    if (entry.offset < kept.next) return;
    if (kept.gap) {
      if (entry.offset > kept.gap.last) kept.gap.last = entry.offset;
      return;
    }
    try {
      this.#fold(kept, entry);
    } catch (error) {
      kept.gap = { partition: entry.partition, first: entry.offset, last: entry.offset };
      this.#gaps.add(kept);
      this.#parts.fold.again(error, () => this.#mend(kept), entry.key);
    }
  }
  #fold(kept: Kept, entry: LogEntry): void {
    const before = kept.state;
    const own = this.#own.of(entry.key, entry.value);
    this.#options.heard?.(entry.time, own !== undefined);
    const change = this.#change(before, entry, own);
    kept.state = change.state;
    kept.next = (entry.offset + 1) as Offset;
    if (own) this.#own.settle(entry.key, own, change.verdict);
    this.#listeners.tell(change, before);
  }
  /** Folds what was left out, from the ledger. Throws where it still cannot be folded. */
  async #mend(kept: Kept): Promise<void> {
    const { sessionId } = kept.state;
    while (kept.gap && this.#kept.get(sessionId) === kept) {
      const { last } = kept.gap;
      for (const entry of await this.#options.ledger.readSession(sessionId, kept.next)) {
        if (entry.offset >= kept.next && entry.offset <= last) this.#fold(kept, entry);
      }
      if (kept.next <= last) throw new Error(`the ledger does not show offset ${last} of ${sessionId}, which it has handed on`);
      if (kept.gap?.last === last) kept.gap = null;
    }
    this.#gaps.delete(kept);
    this.#parts.fold.works(sessionId);
    this.#positions.tell();
  }

  #change(state: SessionState, entry: LogEntry, own: Own | undefined): Change {
    const parsed = parsedOf(entry.value, own);
    const folded = this.#judge(state, {
      parsed, text: entry.value ?? "", key: entry.key, time: entry.time, partition: entry.partition, offset: entry.offset, verified: "off",
      running: own?.running,
    });
    return { sessionId: entry.key as SessionId, state: folded.state, verdict: folded.verdict, record: parsed.kind === "record" ? parsed.record : null, entry };
  }
  #judge(state: SessionState, entry: FoldEntry): { readonly state: SessionState; readonly verdict: Verdict } {
    return this.#evolve(state, entry, this.#options.ids.sha256);
  }
}
