/** Opens the ports of a deployment and composes the engine. A process that only reads or acts serves no handlers. */
import type { Handlers } from "@loopledger/shared/ports";
import { type Log, type LogLevel, Supervision, makeEngine, makeLog, restoreFolds } from "@loopledger/shared/runtime";
import { createSystemClock, createSystemHost, createSystemIds } from "@loopledger/shared/system";
import { makeDataFolder } from "../ports/data-folder.ts";
import { openPorts } from "../ports/open-ports.ts";
import { AppendTimes } from "../process/figures.ts";
import type { Deployment } from "../settings/deployment.ts";
import type { EngineOptions, OpenEngine } from "./engine-options.ts";

export async function openEngine(deployment: Deployment, options: EngineOptions): Promise<OpenEngine> {
  const clock = createSystemClock();
  const ids = createSystemIds();
  const { leaseMs, silenceMs, logLevel, failpoints } = deployment;
  const log = await logOf(logLevel, options);
  if (options.handlers) makeDataFolder(deployment.dataFolder);
  const { reads = false, views = false, viewsMayBeAway = false } = options;
  const stays = options.handlers !== undefined || options.history === true;
  const supervision = new Supervision({ clock, report: (error, what) => log.error({ err: error }, what) });
  const { close: closePorts, ...opened } = await openPorts(deployment, { clock, ids, log, supervision, reads, views, viewsMayBeAway, stays });
  const appends = options.times ? new AppendTimes() : null;
  const ports = { ...opened, ledger: appends?.timed(opened.ledger, clock.monotonic) ?? opened.ledger };
  try {
    const handlers = options.handlers ? await options.handlers({ blobs: ports.blobs, clock, log, supervision }) : noHandlers;
    const engine = makeEngine(
      { ...ports, clock, ids, host: createSystemHost(), handlers },
      { leaseMs, silenceMs, log, failpoints, supervision, ...(options.only && { only: options.only }), ...(!stays && { patienceMs: patienceOfActsMs }) },
    );
    const startedAt = await ports.ledger.end();
    if (options.history) await restoreFolds(engine);
    else if (!options.still) await engine.folds.start(startedAt);
    const close = async (): Promise<void> => {
      await engine.folds.close();
      await closePorts();
    };
    return { engine, ledger: ports.ledger, views: ports.views ?? null, appends, startedAt, close };
  } catch (error) {
    await closePorts();
    throw error;
  }
}

/** A command that only acts tells its caller that it could not; what serves goes on when the ledger answers again. */
const patienceOfActsMs = 4_000;
const noHandlers: Handlers = { maker: () => null, check: () => null, tool: () => null, toolNames: () => [] };

/** A service logs for machines, and so does whoever was asked to by LOOPLEDGER_LOG_LEVEL; a person is told in sentences. */
function logOf(asked: LogLevel | null, { logLevel, logBindings, spoken }: EngineOptions): Promise<Log> | Log {
  if (asked === null && logLevel === undefined && spoken !== undefined) return spoken;
  return makeLog(asked ?? logLevel ?? "warn", { ...logBindings });
}
