/** All roles of a serving process, started in order and stopped in the reverse one; its port is open when it says that it is ready. */
import { isLoopledgerError } from "@loopledger/shared/core/errors";
import { type Engine, figuresText } from "@loopledger/shared/runtime";
import type { OpenEngine } from "../engine/engine-options.ts";
import { Figures } from "../process/figures.ts";
import { portTaken, refuseTakenPort, startHealth } from "../process/health.ts";
import { within } from "../process/within.ts";
import { Refusal } from "../refusals.ts";
import { type RunningCrew, type Serving, buildCrew } from "./crew.ts";
import type { Beside, Live, Listening, RoleName, Roles, Taking } from "./roles.ts";

export interface ServicesOptions {
  readonly roles: Roles;
  readonly stepLimitMs: (owner: { readonly role: "worker" | "checker" }) => number;
  readonly serves: Serving;
  /** Most sessions carried at a time; left out, as many as is usual. */
  readonly sessionsMax?: number;
  /** What the intake is told; left out, it takes every goal. */
  readonly taking?: Taking;
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
  /** Resolves where a role does not go on by itself: with the reason, or with null where it was stopped. Never without such a role. */
  readonly over: Promise<Error | null>;
  /** Stops the roles, then closes the engine. */
  stop(): Promise<void>;
}
/** Something that runs beside the crew. */
interface Running extends Pick<Beside, "ready" | "stop" | "figures"> {
  readonly name: RoleName;
}

export async function startServices(opened: OpenEngine, options: ServicesOptions): Promise<Services> {
  const { engine } = opened;
  const crew = await buildCrew(engine, options);
  const figures = new Figures(engine, { appends: opened.appends, carried: () => crew.offers.carried });
  const running: Running[] = [];
  const stop = async (): Promise<void> => {
    await crew.stop().catch((error: unknown) => engine.log.error({ err: error }, "the crew did not stop in order"));
    figures.close();
    for (const role of running.toReversed()) await role.stop().catch((error: unknown) => engine.log.error({ err: error, role: role.name }, "a role did not stop in order"));
    await opened.close();
  };
  try {
    const projector = await options.roles.projector?.(engine);
    if (projector) running.push(besideAs("projector", projector));
    // Who cannot have the port is refused before it claims anything; who can, goes on with what is owed while its port opens.
    if (!options.portMayBeTaken) await refuseTakenPort(options);
    crew.start();
    await headStart(engine);
    const intake = await options.roles.intake?.(engine, options.taking ?? { missingHandlers: () => [] });
    if (intake) running.push(besideAs("intake", intake));
    const port = await openPort(opened, { ...options, figures, running }).catch((error: unknown) => {
      if (options.portMayBeTaken && error instanceof Refusal && error.code === "port_taken") return null;
      throw error;
    });
    return { crew, port, stop, over: Promise.race([overOf(projector), overOf(intake)]) };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Longest wait for the first claim of what is owed, in ms. */
const headStartMs = 50;
/** Loading the gateway's code holds up the event loop for longer than it takes to claim what is owed: the claims of a start go first. */
function headStart({ folds, ownerId, supervision }: Engine): Promise<void> {
  if (folds.ids().length === 0) return Promise.resolve();
  return new Promise((resolve) => {
    const over = (): void => {
      stopListening();
      cancel();
      setImmediate(resolve);
    };
    const cancel = supervision.part("changes").after(headStartMs, over);
    const stopListening = folds.listen(({ record, verdict }) => {
      if (record?.type === "claimed" && record.ownerId === ownerId && verdict.kind === "accepted") over();
    }, "changes");
  });
}

function besideAs(name: RoleName, beside: Beside): Running {
  return { name, ready: () => beside.ready(), stop: () => beside.stop(), figures: () => beside.figures?.() ?? [] };
}
function overOf(beside: Beside | undefined): Promise<Error | null> {
  return beside?.over ?? new Promise(() => undefined);
}

type PortOptions = ServicesOptions & { readonly figures: Figures; readonly running: Running[] };

/** The gateway, or without its role what tells of health; either way the port is open when the process takes work. */
async function openPort({ engine, ledger }: OpenEngine, options: PortOptions): Promise<number> {
  const { figures, running, roles, host, port, principal } = options;
  const unready = async (): Promise<string[]> => {
    const ledgerAnswers = await within(engine.supervision.part("figures"), ledger.end().then(() => true), false);
    const roles = running.filter((role) => !role.ready()).map((role) => role.name);
    return [...new Set([...(ledgerAnswers ? [] : ["ledger"]), ...roles, ...engine.supervision.faulty()])];
  };
  const listening: Listening = { host, port, principal, unready, figures: async () => figuresText([...(await figures.families()), ...running.flatMap((role) => role.figures?.() ?? [])]) };
  const opened = await (roles.gateway?.(engine, listening) ?? startHealth(listening)).catch((error: unknown) => {
    throw isLoopledgerError(error, "address_in_use") ? portTaken(port) : error;
  });
  running.push({ name: "gateway", ready: () => true, stop: () => opened.stop() });
  return opened.port;
}
