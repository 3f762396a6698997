/**
 * Opens the ports and composes the engine. A command that only reads or acts serves no handlers; what it reads of a folder
 * without a ledger is an empty ledger in memory, so that looking around makes no files.
 */
import { join } from "node:path";
import type { Blobs, Clock, Handlers, Ids, Ledger, Ownership, ReadModel } from "@loopledger/shared/ports";
import { type Log, type LogLevel, makeEngine, makeLog, restoreFolds } from "@loopledger/shared/runtime";
import { readSettings } from "@loopledger/shared/runtime/config";
import { createSystemClock, createSystemHost, createSystemIds } from "@loopledger/shared/system";
import { exitCodes } from "../exit-codes.ts";
import { Refusal } from "../refusals.ts";
import { hasLedger, makeDataFolder } from "../ports/data-folder.ts";
import type { EngineOptions, EnginePlace, OpenEngine } from "./engine-options.ts";

export async function openEngine(place: EnginePlace, options: EngineOptions): Promise<OpenEngine> {
  const clock = createSystemClock();
  const ids = createSystemIds();
  const settings = readSettings(clock, place.environment.variables);
  refuseOtherLedgers(place);
  const log = await logOf(settings.logLevel, options);
  const ports = await openPorts(place.dataFolder, { clock, ids, log, options });
  try {
    const handlers = options.handlers ? await options.handlers({ blobs: ports.blobs, clock, log }) : noHandlers;
    const engine = makeEngine(
      { ...ports, clock, ids, host: createSystemHost(), handlers },
      { leaseMs: settings.leaseMs, silenceMs: settings.silenceMs, log, failpoints: settings.failpoints, ...(options.only && { only: options.only }), ...(!options.handlers && { patienceMs: patienceOfActsMs }) },
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

/** A command that only acts tells its caller that it could not; one that carries sessions goes on when the ledger answers again. */
const patienceOfActsMs = 4_000;
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
  makeDataFolder(folder);
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

/** A service logs for machines, and so does whoever was asked to by LOOPLEDGER_LOG_LEVEL; a person is told in sentences. */
function logOf(asked: LogLevel | null, { logLevel, spoken }: EngineOptions): Promise<Log> | Log {
  if (asked === null && logLevel === undefined && spoken !== undefined) return spoken;
  return makeLog(asked ?? logLevel ?? "warn");
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
function refuseOtherLedgers({ environment }: EnginePlace): void {
  if (!environment.variables["LOOPLEDGER_KAFKA_BROKERS"]) return;
  throw new Refusal("ledger_unreachable", "LOOPLEDGER_KAFKA_BROKERS is set, and this command has no Kafka adapter.", {
    next: "Unset it to work on the data folder.", exitCode: exitCodes.unreachable,
  });
}
