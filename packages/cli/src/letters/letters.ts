/** What the command does with dead letters, wherever they are. */
import type { DeadLetterRow } from "@loopledger/shared/ports";
import type { ShownLetter } from "@loopledger/shared/runtime";
import { CliError } from "../errors.ts";

export interface Mending {
  /** In place of the original value. */
  readonly value?: Uint8Array | undefined;
  /** In place of the original key; null = none. */
  readonly key?: string | null | undefined;
}
export interface ReplayedLetter {
  readonly id: string;
  readonly at: string;
  readonly topic: string;
  /** When it had been put back already; null or left out = never, as far as is known. */
  readonly before?: string | null;
}
export interface Letters {
  /** False where goals come over no topic, and so none can fail there. */
  readonly hasTopic: boolean;
  page(query: { readonly limit: number; readonly cursor?: string | undefined }): Promise<{ readonly items: readonly DeadLetterRow[]; readonly next: string | null }>;
  /** Throws `unknown_dead_letter`. */
  get(id: string): Promise<ShownLetter>;
  /** Throws `unknown_dead_letter`, `dead_letter_cut`. */
  replay(id: string, mending: Mending): Promise<ReplayedLetter>;
  close(): Promise<void>;
}

export function unknownLetter(id: string): CliError {
  return new CliError("unknown_dead_letter", `There is no dead letter ${id}.`, { next: "`loopledger dlq list` shows those that there are." });
}
