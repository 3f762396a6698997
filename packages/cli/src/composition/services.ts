/** All roles of a serving process, started in order and stopped in the reverse one; its port is open when it takes work. */
import { CliError } from "../errors.ts";
import { type Live, type RoleName, type RunningCrew, buildCrew } from "./crew.ts";
import { startHealth } from "./health.ts";
import type { OpenEngine } from "./open-engine.ts";

export interface ServicesOptions {
  readonly roles: readonly RoleName[];
  readonly stepLimitMs: (owner: { readonly role: "worker" | "checker" }) => number;
  readonly live?: Live;
  readonly host: string;
  readonly port: number;
  /** Where the port is taken, there is none: the work is done all the same. */
  readonly portMayBeTaken?: boolean;
  /** Loopback without a token: `dev` only. */
  readonly open: boolean;
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
    if (options.roles.includes("projector")) {
      const projector = await (await import("@loopledger/projector/projector")).startProjector(engine);
      running.push({ name: "projector", ready: () => projector.ready(), stop: () => projector.stop() });
    }
    const port = await openPort(opened, { ...options, crew, running }).catch((error: unknown) => {
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

type PortOptions = ServicesOptions & { readonly crew: RunningCrew; readonly running: Role[] };

async function openPort({ engine, ledger }: OpenEngine, { host, port, crew, running }: PortOptions): Promise<number> {
  const unready = async (): Promise<string[]> => {
    const ledgerAnswers = await ledger.end().then(() => true, () => false);
    return [...(ledgerAnswers ? [] : ["ledger"]), ...running.filter((role) => !role.ready()).map((role) => role.name)];
  };
  const gauges = () => ({ loopledger_sessions_carried: crew.offers.carried, loopledger_sessions_kept: engine.folds.ids().length });
  const health = await startHealth({ host, port, unready, gauges });
  running.push({ name: "gateway", ready: () => true, stop: health.stop });
  return health.port;
}
