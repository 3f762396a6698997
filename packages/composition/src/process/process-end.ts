/** How a process that is composed here lives and ends: it stays while there is work, survives what nobody awaited, and flushes before it leaves. */
import type { ExitCode } from "../exit-codes.ts";

const aDayMs = 86_400_000;

/** The engine's timers keep no process alive by themselves; a process that still works does. */
export function keepAlive(): void {
  setInterval(() => undefined, aDayMs);
}

/** What nobody awaited never ends the process: it is told on stderr, and the work goes on. */
export function surviveStrayErrors(): void {
  process.on("unhandledRejection", (error) => tell("something that nobody waited for failed", error));
  // Whoever reads our answer may leave early (`| head`): a command that only answers is then over, and that is no error.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (!carries) process.exit(error.code === "EPIPE" ? 0 : 1);
  });
  // What is told on the way is for whoever listens.
  process.stderr.on("error", () => undefined);
}

/** This process carries sessions: it goes on, and its exit code stays theirs, also where nobody hears it any more. */
let carries = false;

/**
 * For processes that carry sessions: an exception outside of any call is told, reported and survived. Each role guards its own
 * work, and whatever is half done is settled by the ledger, not by this process's memory.
 */
export function surviveExceptions(report: (error: unknown) => void): void {
  carries = true;
  process.on("uncaughtException", (error) => {
    tell("an error reached the top of the process", error);
    report(error);
  });
}

function tell(what: string, error: unknown): void {
  process.stderr.write(`loopledger: ${what}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
}

/** Leaves with the code once everything that was written is out. */
export async function exitWith(code: ExitCode): Promise<never> {
  await Promise.all([process.stdout, process.stderr].map((stream) => new Promise<void>((resolve) => { stream.write("", () => resolve()); })));
  process.exit(code);
}
