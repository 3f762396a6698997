/** The environment, read at one edge: every mistake is named at once, and nothing starts with one. */
import { z } from "zod";
import type { Clock } from "../ports/index.ts";
import { type Failpoints, parseFailpoints } from "./failpoints.ts";
import { logLevels } from "./log.ts";

const environment = z.object({
  LOOPLEDGER_LEASE_MS: z.coerce.number().int().min(100).max(600_000).default(2_000),
  LOOPLEDGER_SILENCE_MS: z.coerce.number().int().min(0).default(60_000),
  LOOPLEDGER_LOG_LEVEL: z.enum(logLevels).optional(),
  LOOPLEDGER_FAILPOINTS: z.string().default(""),
});

export interface RuntimeSettings {
  readonly leaseMs: number;
  readonly silenceMs: number;
  readonly logLevel: (typeof logLevels)[number] | null;
  readonly failpoints: Failpoints;
}
export class InvalidSettings extends Error {
  override readonly name = "InvalidSettings";
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(`settings: ${faults.join("; ")}`);
    this.faults = faults;
  }
}

/** Throws `InvalidSettings` with every fault. */
export function readSettings(clock: Clock, variables: Readonly<Record<string, string | undefined>> = process.env): RuntimeSettings {
  const read = environment.safeParse(variables);
  const faults = read.success ? [] : read.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
  const points = parseFailpoints(variables["LOOPLEDGER_FAILPOINTS"] ?? "", clock);
  if (!read.success || points.faults.length > 0) throw new InvalidSettings([...faults, ...points.faults]);
  return {
    leaseMs: read.data.LOOPLEDGER_LEASE_MS, silenceMs: read.data.LOOPLEDGER_SILENCE_MS,
    logLevel: read.data.LOOPLEDGER_LOG_LEVEL ?? null, failpoints: points.failpoints,
  };
}
