/** What the storage's faults are called where the ledger is concerned. */
import { type ErrorCode, isLoopledgerError, LoopledgerError, messageOf } from "../../core/errors.ts";
import { type StorageFault, storageFault } from "./database.ts";

const codes: Record<StorageFault, { readonly code: ErrorCode; readonly what: string }> = {
  busy: { code: "ledger_unreachable", what: "is held by another process" },
  full: { code: "ledger_full", what: "is on a full disk" },
  read_only: { code: "ledger_read_only", what: "cannot be written" },
  corrupt: { code: "ledger_corrupt", what: "is damaged or no ledger" },
  sync_failed: { code: "ledger_corrupt", what: "could not be flushed to its disk" },
  unreachable: { code: "ledger_unreachable", what: "cannot be reached" },
};

/** The catalogue's error for anything that went wrong at the ledger's file; what is no storage fault comes back as it is. */
export function ledgerError(error: unknown, file: string): unknown {
  if (isLoopledgerError(error)) return error;
  const fault = storageFault(error, file);
  if (fault === null) return error;
  const { code, what } = codes[fault];
  return new LoopledgerError(code, `The ledger ${file} ${what}: ${messageOf(error)}.`, { cause: error });
}
