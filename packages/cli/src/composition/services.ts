/** All roles of a serving process, started in order and stopped in the reverse one; its port is open when it takes work. */
import type { Gateway, ListenOptions } from "@loopledger/gateway/gateway";
import type { Projector } from "@loopledger/projector/projector";
import { isLoopledgerError } from "@loopledger/shared/core/errors";
import type { Engine } from "@loopledger/shared/runtime";
import { CliError } from "../errors.ts";
import { type Live, type RoleName, type RunningCrew, type Serving, buildCrew } from "./crew.ts";
import { portTaken, startHealth } from "./health.ts";
import type { OpenEngine } from "./engine-options.ts";

export interface ServicesOptions {
  readonly roles: readonly RoleName[];
  readonly stepLimitMs: (owner: { readonly role: "worker" | "checker" }) => number;
  readonly serves: Serving;
  readonly live?: Live;
  readonly host: string;
  readonly port: number;
  /** Where the port is taken, there is none: the work is done all the same. */
  readonly portMayBeTaken?: boolean;
  /** Who acts through the gateway, for as long as nobody has to prove who they are. */
  readonly principal: string;
}
export interface Services {
  readonly crew: RunningCrew;
  /** The port that was opened; null = it was taken. */
  readonly port: number | null;
  /** Stops the roles, then closes the engine. */
  stop(): Promise<void>;
}
/** Something that runs beside the crew. */
interface Role {
  readonly name: RoleName;
  ready(): boolean;
  stop(): Promise<void>;
}

export async function startServices(opened: OpenEngine, options: ServicesOptions): Promise<Services> {
  const { engine } = opened;
  const crew = await buildCrew(engine, options);
  const running: Role[] = [];
  const stop = async (): Promise<void> => {
    await crew.stop();
    for (const role of running.toReversed()) await role.stop().catch((error: unknown) => engine.log.error({ err: error, role: role.name }, "a role did not stop in order"));
    await opened.close();
  };
  try {
    const projector = options.roles.includes("projector") ? await (await import("@loopledger/projector/projector")).startProjector(engine) : null;
    if (projector) running.push({ name: "projector", ready: () => projector.ready(), stop: () => projector.stop() });
    const port = await openPort(opened, { ...options, crew, running, projector }).catch((error: unknown) => {
      if (options.portMayBeTaken && error instanceof CliError && error.code === "port_taken") return null;
      throw error;
    });
    crew.offers.start();
    return { crew, port, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type PortOptions = ServicesOptions & { readonly crew: RunningCrew; readonly running: Role[]; readonly projector: Projector | null };

/** The gateway, or without its role what tells of health; either way the port is open when the process takes work. */
async function openPort({ engine, ledger }: OpenEngine, options: PortOptions): Promise<number> {
  const { crew, running, projector } = options;
  const unready = async (): Promise<string[]> => {
    const ledgerAnswers = await ledger.end().then(() => true, () => false);
    return [...(ledgerAnswers ? [] : ["ledger"]), ...running.filter((role) => !role.ready()).map((role) => role.name)];
  };
  const gauges = () => ({ loopledger_sessions_carried: crew.offers.carried, loopledger_sessions_kept: engine.folds.ids().length });
  const listening = { host: options.host, port: options.port, unready, gauges };
  const opened = options.roles.includes("gateway")
    ? await openGateway(engine, { ...listening, principal: options.principal, ...(projector && { projector }) })
    : await startHealth(listening);
  running.push({ name: "gateway", ready: () => true, stop: () => opened.stop() });
  return opened.port;
}

async function openGateway(engine: Engine, options: ListenOptions): Promise<Gateway> {
  const { startGateway } = await import("@loopledger/gateway/gateway");
  return startGateway(engine, options).catch((error: unknown) => {
    throw isLoopledgerError(error, "address_in_use") ? portTaken(options.port) : error;
  });
}
