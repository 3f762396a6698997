/** The service's log: one JSON line an event, with session, epoch and seq where they are known. Payloads are never logged. */
import type { Logger } from "pino";
import { serializeOnce } from "./logged-error.ts";

export type Log = Pick<Logger, "debug" | "info" | "warn" | "error"> & { child(bindings: Record<string, unknown>): Log };
export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/** Loads pino only when something is to be logged: it costs a fast command more than the command itself. */
export async function makeLog(level: LogLevel, bindings: Record<string, unknown> = {}): Promise<Log> {
  if (level === "silent") return silentLog;
  const { pino, destination, stdSerializers } = await import("pino");
  return pino(
    { level, base: { pid: process.pid, ...bindings }, serializers: { err: serializeOnce(stdSerializers.err) }, redact: { paths: ["token", "*.token", "authorization", "*.authorization", "password", "*.password"], censor: "[redacted]" } },
    destination({ dest: 2, sync: true }),
  ) as unknown as Log;
}

const nothing = (): void => undefined;
export const silentLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => silentLog };
