/** Whether a ledger may still be used: open, closed, or broken by what no further try can mend. */
import { LoopledgerError } from "../../core/errors.ts";
import { patiently, storageFault } from "./database.ts";
import { ledgerError } from "./ledger-errors.ts";

export class LedgerState {
  readonly #path: string;
  readonly #log: ((error: unknown) => void) | undefined;
  #broken: LoopledgerError | null = null;
  #isClosed = false;

  constructor(path: string, log: ((error: unknown) => void) | undefined) {
    this.#path = path;
    this.#log = log;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Throws where the ledger is closed or broken. */
  check(): void {
    if (this.#isClosed) throw new LoopledgerError("ledger_closed", `The ledger ${this.#path} is closed.`);
    this.checkWhole();
  }
  /** Throws where it is broken; what was appended before it was closed is still written. */
  checkWhole(): void {
    if (this.#broken !== null) throw this.#broken;
  }

  readonly isBusy = (error: unknown): boolean => storageFault(error, this.#path) === "busy";

  /** The catalogue's error, kept where everybody has to stop. */
  readonly explain = (cause: unknown): unknown => {
    const error = ledgerError(cause, this.#path);
    if (error instanceof LoopledgerError && error.then === "stop") this.#broken ??= error;
    return error;
  };

  /** For what nobody waits for; it is told once. */
  readonly fail = (cause: unknown): void => {
    const isKnown = this.#broken !== null;
    const error = this.explain(cause);
    if (!isKnown && !this.#isClosed) this.#log?.(error);
  };

  /** A read that finds the file busy with another process's recovery is tried again for a while. */
  async read<T>(call: () => T): Promise<T> {
    try {
      return await patiently(this.#path, () => {
        this.check();
        return call();
      });
    } catch (error) {
      throw ledgerError(error, this.#path);
    }
  }
}
