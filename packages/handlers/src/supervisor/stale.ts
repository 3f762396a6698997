import { liveRuns } from "./live.ts";
// biome-ignore lint/correctness/useImportExtensions: plain JavaScript with a declaration beside it.
import { endRecorded } from "./records.mjs";

export interface EndStaleOptions {
  /** How long it has after SIGTERM. */
  readonly graceMs?: number;
  /** Only runs of this epoch or a lower one: who asks with a lower epoch than another's does not end that one's. */
  readonly epoch?: number;
}

/**
 * Ends what an earlier owner's supervisor still runs for a session on this host, and waits until it is gone: false where that fails.
 * What this process runs itself is left alone. A recycled pid is never hit: start time, boot and pid namespace must fit.
 */
export function endStale(sessionFolder: string, { graceMs = 1000, epoch = Number.POSITIVE_INFINITY }: EndStaleOptions = {}): Promise<boolean> {
  return endRecorded(sessionFolder, { which: (record) => !liveRuns.has(record.run) && record.epoch <= epoch, graceMs });
}
