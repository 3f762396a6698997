/** The ledger on a SQLite file that the processes of one host share. */
import type { Offset, SessionId } from "../../core/brand.ts";
import { LoopledgerError } from "../../core/errors.ts";
import { isWholeText } from "../../core/json.ts";
import { defaultPartitions, partitionOf } from "../../core/placement.ts";
import type { Clock, Ids, Ledger, LogEntry, Positions, Subscription } from "../../ports/index.ts";
import { CommitQueue } from "./commit-queue.ts";
import { createCommitWriter } from "./commit-writer.ts";
import { type Doorbell, openDoorbell } from "./doorbell.ts";
import { ledgerError } from "./ledger-errors.ts";
import { isSameFile, type LedgerFile, openLedgerFile } from "./ledger-file.ts";
import { createLedgerRows, type LedgerRows } from "./ledger-rows.ts";
import { LedgerState } from "./ledger-state.ts";
import { plainReactor, type Reactor } from "./reactor.ts";
import { RecentPositions } from "./recent-positions.ts";
import { isOver, LedgerSubscription } from "./subscription.ts";
import { Tail } from "./tail.ts";

export interface SqliteLedgerOptions {
  /** The data folder; made where it is missing. */
  readonly folder: string;
  /** Of a new ledger (default 4). An existing one must have as many, where the number is given. */
  readonly partitions?: number | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Told what went wrong where no caller is waiting for an answer. */
  readonly log?: ((error: unknown) => void) | undefined;
  /** Who keeps going what commits, and what hears of other processes' commits (default: both are called again after a second). */
  readonly reactors?: { readonly commits: Reactor; readonly bell: Reactor } | undefined;
}

/**
 * Opens the ledger of a data folder, or makes a new one there. Throws `ledger_read_only`, `ledger_full`, `ledger_corrupt`,
 * `ledger_lost`, `ledger_newer`, `ledger_unreachable`, or `ledger_mismatch` where it has another number of partitions.
 */
export function openSqliteLedger(options: SqliteLedgerOptions): Ledger {
  const { partitions } = options;
  const file = openLedgerFile({ ...options, partitions: partitions ?? defaultPartitions });
  if (partitions !== undefined && partitions !== file.partitions) {
    file.db.close();
    throw new LoopledgerError("ledger_mismatch", `${file.path} has ${file.partitions} partitions, not ${partitions}; the number is fixed for good.`);
  }
  try {
    return new SqliteLedger(file, options);
  } catch (error) {
    file.db.close();
    throw ledgerError(error, file.path);
  }
}

class SqliteLedger implements Ledger {
  readonly ledgerId: string;
  readonly partitions: number;
  readonly #file: LedgerFile;
  readonly #state: LedgerState;
  readonly #rows: LedgerRows;
  readonly #tail: Tail;
  readonly #queue: CommitQueue;
  readonly #bell: Doorbell;
  readonly #subscriptions = new Set<Subscription>();

  constructor(file: LedgerFile, { clock, ids, log, reactors }: SqliteLedgerOptions) {
    this.ledgerId = file.ledgerId;
    this.partitions = file.partitions;
    this.#file = file;
    const state = new LedgerState(file.path, log);
    this.#state = state;
    const recent = new RecentPositions(file);
    this.#rows = createLedgerRows(file, recent);
    const tail = new Tail({ rows: this.#rows, start: file.end, isBusy: state.isBusy, failed: state.fail, seen: (entries) => recent.add(entries) });
    this.#tail = tail;
    const plain = plainReactor(clock, state.fail);
    const bell = openDoorbell({
      ledgerPath: file.path, ledgerId: file.ledgerId, clock, ids, heard: () => tail.look(), look: () => this.#look(), reactor: reactors?.bell ?? plain,
    });
    this.#bell = bell;
    const write = createCommitWriter({ file, clock, recent, delivered: () => tail.delivered });
    this.#queue = new CommitQueue({
      clock, isBusy: state.isBusy, explain: state.explain, missed: () => tail.look(), reactor: reactors?.commits ?? plain,
      write: (batches) => {
        this.#lookAtName();
        state.checkWhole();
        return write(batches);
      },
      committed: (entries) => {
        tail.own(entries);
        bell.ring(entries.at(-1)?.offset ?? 0);
      },
    });
  }

  partitionOf(key: string): number {
    return partitionOf(key, this.partitions);
  }

  append(sessionId: SessionId, values: readonly string[]): Promise<void> {
    try {
      this.#state.check();
    } catch (error) {
      return Promise.reject(error);
    }
    if (!values.every(isWholeText)) return Promise.reject(new RangeError("A record holds half a character or a NUL."));
    return values.length > 0 ? this.#queue.add({ key: sessionId, values }) : Promise.resolve();
  }

  read(partition: number, from: Offset, limit: number): Promise<readonly LogEntry[]> {
    return this.#state.read(() => this.#rows.ofPartition(partition, { from, to: Number.MAX_SAFE_INTEGER, limit }));
  }

  readSession(sessionId: SessionId, from?: Offset): Promise<readonly LogEntry[]> {
    return this.#state.read(() => this.#rows.ofSession(sessionId, from ?? 0));
  }

  /** Whoever asks where the ledger ends is about to rely on it: that it is still the file of this name is looked up too. */
  end(): Promise<Positions> {
    this.#lookAtName();
    return this.#state.read(() => this.#rows.ends());
  }

  async subscribe(from: Positions, listener: (entries: readonly LogEntry[]) => void): Promise<Subscription> {
    const state = this.#state;
    const subscription = await state.read(() => new LedgerSubscription({
      rows: this.#rows, tail: this.#tail, from, listener, isBusy: state.isBusy, failed: state.fail,
      flushed: () => this.#queue.idle(), end: () => state.read(() => this.#rows.last()),
      closed: (one) => this.#subscriptions.delete(one),
    }));
    this.#subscriptions.add(subscription);
    return subscription;
  }

  async close(): Promise<void> {
    if (this.#state.isClosed) return;
    this.#state.close();
    await this.#queue.idle();
    for (const subscription of [...this.#subscriptions]) await subscription.close();
    this.#tail.close(isOver());
    this.#bell.close();
    this.#file.db.close();
  }

  #look(): void {
    if (this.#state.isClosed) return;
    this.#lookAtName();
    this.#tail.look();
  }

  #lookAtName(): void {
    if (isSameFile(this.#file)) return;
    this.#state.fail(new LoopledgerError("ledger_mismatch", `The ledger is gone: ${this.#file.path} was deleted or replaced while this process had it open.`, {
      next: "What was written since is lost, and nothing that follows counts. Put the data folder back from a copy, or begin anew; keep it out of what cleans the workspace.",
    }));
  }
}
