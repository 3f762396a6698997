/** The entries of one session: those that are there, and with `follow` those that come, in log order, each once. */
import type { Offset, SessionId } from "@loopledger/shared/core/brand";
import type { Ledger, LogEntry } from "@loopledger/shared/ports";

export interface Following {
  readonly signal: AbortSignal;
}

/** Entries of the session from its first on; ends only when the signal aborts. */
export async function* followSession(ledger: Ledger, sessionId: SessionId, { signal }: Following): AsyncGenerator<readonly LogEntry[]> {
  const partition = ledger.partitionOf(sessionId);
  // The end is taken first: what is appended while the history is read is then seen by the subscription too, and told apart by its offset.
  const end = (await ledger.end()).get(partition) ?? (0 as Offset);
  const history = await ledger.readSession(sessionId);
  let last = history.at(-1)?.offset ?? -1;
  const inbox = new Inbox<LogEntry>();
  const stop = (): void => inbox.close();
  signal.addEventListener("abort", stop, { once: true });
  const subscription = await ledger.subscribe(new Map([[partition, end]]), (entries) => inbox.put(entries.filter((entry) => entry.key === sessionId)));
  try {
    yield history;
    while (!signal.aborted) {
      const fresh = (await inbox.take()).filter((entry) => entry.offset > last);
      last = fresh.at(-1)?.offset ?? last;
      if (fresh.length > 0) yield fresh;
    }
  } finally {
    signal.removeEventListener("abort", stop);
    await subscription.close();
  }
}

/** What has arrived and was not fetched. */
class Inbox<T> {
  #items: T[] = [];
  #wake: (() => void) | null = null;
  #closed = false;

  put(items: readonly T[]): void {
    this.#items.push(...items);
    if (this.#items.length > 0) this.#wake?.();
  }
  close(): void {
    this.#closed = true;
    this.#wake?.();
  }
  /** Everything that is there, as soon as something is; nothing once it is closed. */
  async take(): Promise<readonly T[]> {
    if (this.#items.length === 0 && !this.#closed) await new Promise<void>((resolve) => { this.#wake = resolve; });
    this.#wake = null;
    const items = this.#items;
    this.#items = [];
    return items;
  }
}
