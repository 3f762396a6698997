/**
 * Opens the ports and composes the engine. A command that only reads or acts serves no handlers; what it reads of a folder
 * without a ledger is an empty ledger in memory, so that looking around makes no files.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Handlers } from "@loopledger/shared/ports";
import type { SessionId } from "@loopledger/shared/core/brand";
import { type Engine, type Log, type LogLevel, makeEngine, makeLog, restoreFolds } from "@loopledger/shared/runtime";
import { readSettings } from "@loopledger/shared/runtime/config";
import type { Blobs, Clock, Ids, Ledger, Ownership, Positions, ReadModel } from "@loopledger/shared/ports";
import { createSystemClock, createSystemHost, createSystemIds } from "@loopledger/shared/system";
import type { CommandContext } from "../context.ts";

import { CliError } from "../errors.ts";
import { exitCodes } from "../exit-codes.ts";

export interface EngineOptions {
  /** What this process can run; left out by commands that read or act. */
  readonly handlers?: (ports: HandlerPorts) => Promise<Handlers>;
  /** Sessions to follow; all where it is left out. */
  readonly only?: (sessionId: SessionId) => boolean;
  /** The command writes nothing: a data folder without a ledger stays as it is and reads as empty. */
  readonly reads?: boolean;
  /** Folds that do not follow the tail: enough to read sessions once. */
  readonly still?: boolean;
  /** Folds that know every session that is alive: seeded from the views' snapshots, then caught up from where those end. */
  readonly history?: boolean;
  /** Open the read models too. */
  readonly views?: boolean;
  /** From which level on the log speaks where LOOPLEDGER_LOG_LEVEL says nothing (default `warn`). */
  readonly logLevel?: LogLevel;
}
/** What handlers need before there is an engine. */
export interface HandlerPorts {
  readonly blobs: Blobs;
  readonly clock: Clock;
  readonly log: Log;
}
export interface OpenEngine {
  readonly engine: Engine;
  readonly ledger: Ledger;
  readonly views: ReadModel | null;
  /** The ledger's end when it was opened: what is later is new. */
  readonly startedAt: Positions;
  /** Closes folds and ports; what was appended is on the ledger. */
  close(): Promise<void>;
}

export async function openEngine(context: CommandContext, options: EngineOptions): Promise<OpenEngine> {
  const clock = createSystemClock();
  const ids = createSystemIds();
  const settings = readSettings(clock, context.environment.variables);
  refuseOtherLedgers(context);
  const log = await makeLog(settings.logLevel ?? options.logLevel ?? "warn");
  const ports = await openPorts(context.dataFolder, { clock, ids, log, options });
  try {
    const handlers = options.handlers ? await options.handlers({ blobs: ports.blobs, clock, log }) : noHandlers;
    const engine = makeEngine(
      { ...ports, clock, ids, host: createSystemHost(), handlers },
      { leaseMs: settings.leaseMs, silenceMs: settings.silenceMs, log, failpoints: settings.failpoints, ...(options.only && { only: options.only }) },
    );
    const end = await ports.ledger.end();
    if (options.history) await restoreFolds(engine);
    else if (!options.still) await engine.folds.start(end);
    const close = async (): Promise<void> => {
      await engine.folds.close();
      await closePorts(ports);
    };
    return { engine, ledger: ports.ledger, views: ports.views ?? null, startedAt: end, close };
  } catch (error) {
    await closePorts(ports);
    throw error;
  }
}

const noHandlers: Handlers = { maker: () => null, check: () => null, tool: () => null, toolNames: () => [] };

interface DataPorts {
  readonly ledger: Ledger;
  readonly ownership: Ownership;
  readonly blobs: Blobs;
  readonly views?: ReadModel;
}
interface Opening { readonly clock: Clock; readonly ids: Ids; readonly log: Log; readonly options: EngineOptions }

async function openPorts(folder: string, { clock, ids, log, options }: Opening): Promise<DataPorts> {
  if (options.reads && !hasLedger(folder)) return emptyPorts(clock, ids);
  const { openSqliteLedger, openSqliteOwnership, openSqliteReadModel } = await import("@loopledger/shared/sqlite");
  const { openFolderBlobs } = await import("@loopledger/shared/blobs");
  const ledger = openSqliteLedger({ folder, clock, ids, log: (error) => log.error({ err: error }, "ledger") });
  return {
    ledger,
    ownership: openSqliteOwnership({ folder, clock }),
    blobs: openFolderBlobs({ folder: join(folder, "blobs"), clock, ids }),
    ...(options.views && { views: openSqliteReadModel({ folder, ledgerId: ledger.ledgerId }) }),
  };
}

/** Whether a ledger lies in the folder. */
export function hasLedger(folder: string): boolean {
  return existsSync(join(folder, "ledger.db")) || existsSync(join(folder, "ledger.db-wal"));
}

async function emptyPorts(clock: Clock, ids: Ids): Promise<DataPorts> {
  const memory = await import("@loopledger/shared/memory");
  const ledger = memory.createMemoryLedger({ clock, ids }).handle();
  return {
    ledger,
    ownership: memory.createMemoryOwnership({ clock }).handle(),
    blobs: memory.createMemoryBlobs(),
    views: memory.createMemoryReadModel({ clock }).handle({ ledgerId: ledger.ledgerId }),
  };
}

async function closePorts({ ledger, ownership, views }: DataPorts): Promise<void> {
  await views?.close();
  await ownership.close();
  await ledger.close();
}

/** Nothing is worse than a command that works on another ledger than the one that was meant. */
function refuseOtherLedgers({ environment }: CommandContext): void {
  if (environment.kafkaBrokers === null) return;
  throw new CliError("ledger_unreachable", "LOOPLEDGER_KAFKA_BROKERS is set, and this command has no Kafka adapter.", {
    next: "Unset it to work on the data folder.", exitCode: exitCodes.unreachable,
  });
}
