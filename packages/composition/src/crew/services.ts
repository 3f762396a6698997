/** All roles of a serving process, started in order and stopped in the reverse one; its port is open when it takes work. */
import { isLoopledgerError } from "@loopledger/shared/core/errors";
import type { OpenEngine } from "../engine/engine-options.ts";
import { portTaken, startHealth } from "../process/health.ts";
import { Refusal } from "../refusals.ts";
import { type RunningCrew, type Serving, buildCrew } from "./crew.ts";
import type { Live, Listening, RoleName, Roles } from "./roles.ts";

export interface ServicesOptions {
  readonly roles: Roles;
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
    const projector = await options.roles.projector?.(engine);
    if (projector) running.push({ name: "projector", ready: () => projector.ready(), stop: () => projector.stop() });
    const port = await openPort(opened, { ...options, crew, running }).catch((error: unknown) => {
      if (options.portMayBeTaken && error instanceof Refusal && error.code === "port_taken") return null;
      throw error;
    });
    crew.offers.start();
    return { crew, port, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type PortOptions = ServicesOptions & { readonly crew: RunningCrew; readonly running: Role[] };

/** The gateway, or without its role what tells of health; either way the port is open when the process takes work. */
async function openPort({ engine, ledger }: OpenEngine, options: PortOptions): Promise<number> {
  const { crew, running, roles } = options;
  const unready = async (): Promise<string[]> => {
    const ledgerAnswers = await ledger.end().then(() => true, () => false);
    return [...(ledgerAnswers ? [] : ["ledger"]), ...running.filter((role) => !role.ready()).map((role) => role.name)];
  };
  const gauges = () => ({ loopledger_sessions_carried: crew.offers.carried, loopledger_sessions_kept: engine.folds.ids().length });
  const listening: Listening = { host: options.host, port: options.port, principal: options.principal, unready, gauges };
  const opened = await (roles.gateway?.(engine, listening) ?? startHealth(listening)).catch((error: unknown) => {
    throw isLoopledgerError(error, "address_in_use") ? portTaken(options.port) : error;
  });
  running.push({ name: "gateway", ready: () => true, stop: () => opened.stop() });
  return opened.port;
}
