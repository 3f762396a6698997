/** The service's log: one JSON line an event, with session, epoch and seq where they are known. Payloads are never logged. */
import { createRequire } from "node:module";
import type { Logger } from "pino";
import { serializeOnce } from "./logged-error.ts";

export type Log = Pick<Logger, "debug" | "info" | "warn" | "error"> & { child(bindings: Record<string, unknown>): Log };
export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * A log of this level. pino is loaded with the first line that is written: it costs a fast command more than the command itself, and
 * whoever starts in the place of a dead process has something better to do first.
 */
export function makeLog(level: LogLevel, bindings: Record<string, unknown> = {}): Log {
  return level === "silent" ? silentLog : new LateLog(level, () => pinoLog(level, bindings));
}

function pinoLog(level: LogLevel, bindings: Record<string, unknown>): Log {
  const { pino, destination, stdSerializers } = createRequire(import.meta.url)("pino") as typeof import("pino");
  return pino(
    { level, base: { pid: process.pid, ...bindings }, serializers: { err: serializeOnce(stdSerializers.err) }, redact: { paths: ["token", "*.token", "authorization", "*.authorization", "password", "*.password"], censor: "[redacted]" } },
    destination({ dest: 2, sync: true }),
  ) as unknown as Log;
}

/** Opens the log that it stands for with the first line that the level lets through. */
class LateLog implements Log {
  readonly #level: LogLevel;
  readonly #open: () => Log;
  #opened: Log | null = null;

  constructor(level: LogLevel, open: () => Log) {
    this.#level = level;
    this.#open = open;
  }
  child(bindings: Record<string, unknown>): Log {
    return new LateLog(this.#level, () => this.#log().child(bindings));
  }
  readonly debug: Log["debug"] = (...line: unknown[]) => this.#write("debug", line);
  readonly info: Log["info"] = (...line: unknown[]) => this.#write("info", line);
  readonly warn: Log["warn"] = (...line: unknown[]) => this.#write("warn", line);
  readonly error: Log["error"] = (...line: unknown[]) => this.#write("error", line);

  #log(): Log {
    this.#opened ??= this.#open();
    return this.#opened;
  }
  #write(name: keyof Omit<Log, "child">, line: readonly unknown[]): void {
    if (logLevels.indexOf(name) < logLevels.indexOf(this.#level)) return;
    let log: Log;
    try {
      log = this.#log();
    } catch (error) {
      // Too many open files, say: what is told must not fail because of it, and the next line tries again.
      process.stderr.write(`${JSON.stringify({ level: name, msg: String(line.at(-1)), log: `cannot be opened: ${String(error)}` })}\n`);
      return;
    }
    (log[name] as (...line: readonly unknown[]) => void)(...line);
  }
}

const nothing = (): void => undefined;
export const silentLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => silentLog };
