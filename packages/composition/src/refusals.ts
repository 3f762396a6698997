/** What a process refuses before or beside the work, as a sentence with what to do next and the code to leave with. */
import { type ExitCode, exitCodes } from "./exit-codes.ts";

/** Bad input, something that is not there, a port or a session that somebody else holds. */
export class Refusal extends Error {
  override readonly name: string = "Refusal";
  readonly code: string;
  readonly next: string;
  readonly exitCode: ExitCode;
  /** Single mistakes, where there is more than one. */
  readonly faults: readonly string[];

  constructor(code: string, message: string, options: { readonly next: string; readonly exitCode?: ExitCode; readonly faults?: readonly string[] }) {
    super(message);
    this.code = code;
    this.next = options.next;
    this.exitCode = options.exitCode ?? exitCodes.usage;
    this.faults = options.faults ?? [];
  }
}

/** Bad input: the flags, words, variables or files that the caller gave. Exit code 2. */
export class UsageError extends Refusal {
  override readonly name = "UsageError";
  constructor(message: string, options: { readonly next?: string; readonly faults?: readonly string[]; readonly code?: string } = {}) {
    super(options.code ?? "usage", message, {
      next: options.next ?? "See the same command with --help.", ...(options.faults && { faults: options.faults }),
    });
  }
}

/** A role whose work does not exist on a data folder. Exit code 2. */
export function needsKafka(role: string): UsageError {
  return new UsageError(`The ${role} reads the goals topic, and a data folder has none.`, {
    code: "needs_kafka", next: "Set LOOPLEDGER_KAFKA_BROKERS and LOOPLEDGER_REDIS_URL; on a data folder goals come by `loopledger submit` and by the gateway.",
  });
}
