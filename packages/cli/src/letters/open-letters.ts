/** The dead letters that a command works on: those of the topic itself, of a gateway, or none, where goals come over no topic. */
import type { DeadLetterRow } from "@loopledger/shared/ports";
import type { ShownLetter } from "@loopledger/shared/runtime";
import type { CommandContext } from "../context.ts";
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
}
export interface Letters {
  page(query: { readonly limit: number; readonly cursor?: string | undefined }): Promise<{ readonly items: readonly DeadLetterRow[]; readonly next: string | null }>;
  /** Throws `unknown_dead_letter`. */
  get(id: string): Promise<ShownLetter>;
  /** Throws `unknown_dead_letter`, `dead_letter_cut`. */
  replay(id: string, mending: Mending): Promise<ReplayedLetter>;
  close(): Promise<void>;
}

export async function withLetters<T>(context: CommandContext, work: (letters: Letters) => Promise<T>): Promise<T> {
  const letters = await openLetters(context);
  try {
    return await work(letters);
  } finally {
    await letters.close();
  }
}

async function openLetters(context: CommandContext): Promise<Letters> {
  if (context.remote) return (await import("../remote/remote-letters.ts")).remoteLetters(context.remote);
  const { distributed } = await context.deployment();
  return distributed === null ? noLetters : (await import("./topic-letters.ts")).topicLetters(distributed, context);
}

export function unknownLetter(id: string): CliError {
  return new CliError("unknown_dead_letter", `There is no dead letter ${id}.`, { next: "`loopledger dlq list` shows those that there are." });
}

/** A data folder has no goals topic. */
const noLetters: Letters = {
  page: async () => ({ items: [], next: null }),
  get: async (id) => {
    throw unknownLetter(id);
  },
  replay: async (id) => {
    throw unknownLetter(id);
  },
  close: async () => undefined,
};
