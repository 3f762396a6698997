/**
 * The figures of one process: what it folded, what it carries, how long its appends take, and how far its folds are
 * behind the ledger.
 */
import type { Offset, SessionId } from "@loopledger/shared/core/brand";
import { voidReasons } from "@loopledger/shared/core/session/state";
import type { Ledger } from "@loopledger/shared/ports";
import { type Change, Counter, type Engine, type Family, gauge, LabelledCounter, type Row } from "@loopledger/shared/runtime";
import { within } from "./within.ts";

const bucketsMs = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000] as const;

/** How long appends take until the ledger has acknowledged them. */
export class AppendTimes {
  readonly #counts = bucketsMs.map(() => 0);
  readonly #failed = new Counter({ name: "loopledger_append_failures_total", help: "Appends that were given up without an acknowledgement" });
  #sumMs = 0;
  #count = 0;

  /** The same ledger; each append that goes through it is timed. */
  timed(ledger: Ledger, monotonic: () => number): Ledger {
    return {
      ...boundReads(ledger),
      append: (sessionId, values) => {
        const begunMs = monotonic();
        return ledger.append(sessionId, values).then(() => this.#take(monotonic() - begunMs), (error: unknown) => {
          this.#failed.add();
          throw error;
        });
      },
    };
  }
  #take(tookMs: number): void {
    this.#count++;
    this.#sumMs += tookMs;
    const bucket = bucketsMs.findIndex((limit) => tookMs <= limit);
    if (bucket >= 0) this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
  }

  families(): Family[] {
    let below = 0;
    const buckets = bucketsMs.map((limit, index): Row => {
      below += this.#counts[index] ?? 0;
      return { suffix: "_bucket", labels: { le: String(limit / 1_000) }, value: below };
    });
    return [
      {
        name: "loopledger_append_seconds", type: "histogram", help: "Time from an append to its acknowledgement",
        rows: [...buckets, { suffix: "_bucket", labels: { le: "+Inf" }, value: this.#count }, { suffix: "_sum", value: this.#sumMs / 1_000 }, { suffix: "_count", value: this.#count }],
      },
      this.#failed.family(),
    ];
  }
}

/** Ports may be objects of classes: each call keeps its own object. */
function boundReads(ledger: Ledger): Omit<Ledger, "append"> {
  return {
    ledgerId: ledger.ledgerId, partitions: ledger.partitions, partitionOf: (key) => ledger.partitionOf(key),
    read: (partition, from, limit) => ledger.read(partition, from, limit), readSession: (sessionId, from) => ledger.readSession(sessionId, from),
    end: () => ledger.end(), subscribe: (from, listener) => ledger.subscribe(from, listener), close: () => ledger.close(),
  };
}

export interface FiguresOptions {
  readonly appends: AppendTimes | null;
  /** Sessions that are carried now. */
  readonly carried: () => number;
}

export class Figures {
  readonly #engine: Engine;
  readonly #options: FiguresOptions;
  readonly #records = new LabelledCounter({ name: "loopledger_records_total", help: "Records folded since the start, by verdict" }, "verdict", ["accepted", "held", "void"]);
  readonly #void = new LabelledCounter({ name: "loopledger_void_total", help: "Void records since the start, by reason" }, "reason", voidReasons);
  readonly #takenOver = new Counter({ name: "loopledger_takeovers_total", help: "Claims of another owner's open step that were folded since the start" });
  readonly #takeovers = new Map<SessionId, number>();
  /** Everything before it was there when this began, or is counted. */
  readonly #counted: Map<number, Offset>;
  readonly #stops: readonly (() => void)[];

  constructor(engine: Engine, options: FiguresOptions) {
    this.#engine = engine;
    this.#options = options;
    this.#counted = new Map(engine.folds.handed());
    for (const id of engine.folds.ids()) this.#remember(id, engine.folds.peek(id)?.takeovers ?? 0);
    this.#stops = [engine.folds.listen((change) => this.#count(change), "figures"), engine.folds.onFolded(() => this.#move(), "figures.positions"), engine.folds.onSeeded((state) => this.#remember(state.sessionId, state.takeovers), "figures")];
  }
  close(): void {
    for (const stop of this.#stops) stop();
  }

  async families(): Promise<Family[]> {
    const { carried, appends } = this.#options;
    return [
      gauge({ name: "loopledger_sessions_carried", help: "Sessions that this process carries now" }, carried()),
      gauge({ name: "loopledger_sessions_kept", help: "Sessions that this process keeps in memory" }, this.#engine.folds.ids().length),
      this.#takenOver.family(),
      gauge({ name: "loopledger_ledger_lag", help: "Entries of the ledger that this process has not folded, by partition" }, await this.#lag()),
      ...(appends?.families() ?? []),
      this.#records.family(), this.#void.family(),
    ];
  }

  /** A ledger that does not answer has no lag that could be told; readiness says that it does not answer. */
  async #lag(): Promise<Row[]> {
    const ends = await within(this.#engine.supervision.part("figures"), this.#engine.ledger.end(), null);
    const folded = this.#engine.folds.folded();
    return [...(ends ?? [])].map(([partition, end]) => ({ labels: { partition: String(partition) }, value: Math.max(0, end - (folded.get(partition) ?? end)) }));
  }

  #move(): void {
    for (const [partition, folded] of this.#engine.folds.folded()) {
      if (folded > (this.#counted.get(partition) ?? 0)) this.#counted.set(partition, folded);
    }
  }
  /** Only sessions that were taken over are kept in mind. */
  #remember(sessionId: SessionId, takeovers: number): void {
    if (takeovers > 0) this.#takeovers.set(sessionId, takeovers);
  }
  /** A session's history is told again whenever it is read again: only what is new counts. */
  #count({ sessionId, entry, verdict, state }: Change): void {
    const before = this.#takeovers.get(sessionId) ?? 0;
    this.#remember(sessionId, state.takeovers);
    if (state.end) this.#takeovers.delete(sessionId);
    if (entry.offset < (this.#counted.get(entry.partition) ?? 0)) return;
    this.#records.add(verdict.kind);
    if (verdict.kind === "void") this.#void.add(verdict.reason);
    if (state.takeovers > before) this.#takenOver.add();
  }
}
