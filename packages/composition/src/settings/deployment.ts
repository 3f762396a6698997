/**
 * The settings of a deployment, read from the variables that a process was started with: where the ledger lies, how to get there, and
 * how the process behaves. Every mistake is named at once, by its variable, and nothing starts with one.
 *
 * A variable that is set and empty counts as left out. What belongs to Kafka and stands without it is refused: nothing is worse than
 * a process that works on another ledger than the one that was meant.
 */
import { join, resolve } from "node:path";
import { InvalidSettings, type RuntimeSettings, readSettings } from "@loopledger/shared/runtime/config";
import { createSystemClock } from "@loopledger/shared/system";
import { z } from "zod";
import type { Variables } from "../environment.ts";
import { type Distributed, readDistributed } from "./distributed.ts";
import { fileUrl } from "./file-url.ts";

export interface Deployment extends RuntimeSettings {
  /** Absolute: the embedded ledger, and what belongs to this host alone (folders of runs, notes). */
  readonly dataFolder: string;
  /** Absolute folder of the blobs: `LOOPLEDGER_BLOBS_URL`, else a part of the data folder. */
  readonly blobsFolder: string;
  /** Somebody named that folder, so that processes on other hosts can be given the same one. */
  readonly blobsAreNamed: boolean;
  /** Kafka, Redis and the registry; null = the ledger lies in the data folder. */
  readonly distributed: Distributed | null;
  /** `LOOPLEDGER_CONFIG`, absolute; null = the working folder's. */
  readonly configPath: string | null;
  /** `LOOPLEDGER_HOST`: the address to listen on. */
  readonly host: string;
  /** `LOOPLEDGER_PORT`; null = whatever is usual for the process. */
  readonly port: number | null;
  /** `LOOPLEDGER_SESSIONS_MAX`: most sessions that the process carries at a time; null = as many as is usual. */
  readonly sessionsMax: number | null;
  /** `LOOPLEDGER_PROJECTION`: the read model that a projector writes; null = the one in use. */
  readonly projection: string | null;
}

const shape = z.object({
  LOOPLEDGER_DATA: z.string().default(".loopledger"),
  LOOPLEDGER_BLOBS_URL: fileUrl.optional(),
  LOOPLEDGER_CONFIG: z.string().optional(),
  LOOPLEDGER_HOST: z.string().default("127.0.0.1"),
  LOOPLEDGER_PORT: z.coerce.number("a port is a number").int().min(0).max(65_535).optional(),
  LOOPLEDGER_SESSIONS_MAX: z.coerce.number("it is the number of sessions that a process carries at a time").int().min(1).max(10_000).optional(),
  LOOPLEDGER_PROJECTION: z.string().regex(/^[A-Za-z0-9._-]{1,64}$/, "letters, digits and . _ - only").optional(),
});

/** Whoever sets these believes to be protected by them: a process that reads neither refuses to run. */
const unread: Readonly<Record<string, string>> = {
  LOOPLEDGER_TOKENS_FILE: "this release asks nobody for a token and listens on loopback alone; unset it",
  LOOPLEDGER_KEYS: "this release signs no record and checks no signature; unset it, and guard the topic by its ACL",
};

/** `dataFolder` goes before `LOOPLEDGER_DATA`. Throws `InvalidSettings` with every fault. */
export function readDeployment(variables: Variables, dataFolder?: string): Deployment {
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined && value !== ""));
  const faults = Object.entries(unread).filter(([name]) => given[name] !== undefined).map(([name, why]) => `${name}: ${why}`);
  const runtime = collect(faults, () => readSettings(createSystemClock(), given));
  const distributed = collect(faults, () => readDistributed(given));
  const own = shape.safeParse(given);
  if (!own.success) faults.push(...own.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`));
  if (!own.success || runtime === undefined || distributed === undefined || faults.length > 0) throw new InvalidSettings(faults);
  const { LOOPLEDGER_DATA: folder, LOOPLEDGER_BLOBS_URL: blobs, LOOPLEDGER_CONFIG: config, LOOPLEDGER_HOST: host, LOOPLEDGER_PORT: port, LOOPLEDGER_PROJECTION: projection, LOOPLEDGER_SESSIONS_MAX: sessionsMax } = own.data;
  const data = resolve(dataFolder ?? folder);
  return {
    ...runtime, distributed, dataFolder: data, blobsFolder: blobs ?? join(data, "blobs"), blobsAreNamed: blobs !== undefined, host,
    configPath: config === undefined ? null : resolve(config), port: port ?? null, projection: projection ?? null, sessionsMax: sessionsMax ?? null,
  };
}

/** What was read, or undefined where it has faults; they are added to the others. */
function collect<T>(faults: string[], read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof InvalidSettings)) throw error;
    faults.push(...error.faults);
    return undefined;
  }
}
