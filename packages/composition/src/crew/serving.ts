/** A process that serves roles until it is told to stop: what `serve` does, and what each service does by itself. */
import type { EnginePlace, OpenEngine } from "../engine/engine-options.ts";
import { untilLedgerIsLost } from "../engine/lost-ledger.ts";
import { openEngine } from "../engine/open-engine.ts";
import { exitCodes } from "../exit-codes.ts";
import { drainOnSignals } from "../process/draining.ts";
import { surviveExceptions } from "../process/process-end.ts";
import { handlersOf, stepLimitMs } from "../project/handlers.ts";
import { knownHandlers, missingHandlers, servedBy } from "../project/known-handlers.ts";
import { prepareProject } from "../project/prepare.ts";
import type { Project } from "../project/project-shape.ts";
import type { Deployment } from "../settings/deployment.ts";
import type { Serving } from "./crew.ts";
import type { RoleName, Roles, Taking } from "./roles.ts";
import { type Services, startServices } from "./services.ts";

export interface ServingOptions {
  readonly deployment: Deployment;
  readonly place: EnginePlace;
  readonly roles: Roles;
  /** The names of the roles, for the log. */
  readonly names: readonly RoleName[];
  /** What it can run; without makers and checks it claims nothing. */
  readonly project: Project;
  /** Whose handlers goals may name, where that is not `project`; without a config every name is taken. */
  readonly knows?: Project;
  readonly host: string;
  readonly port: number;
  /** Who acts through the gateway, for as long as nobody has to prove who they are. */
  readonly principal: string;
  /** Told at the first signal. */
  readonly draining: () => void;
  /** Told when it takes work. */
  readonly ready: (services: Services) => void;
  /** A better word for what went wrong at the start, where there is one. */
  readonly refusal?: (error: unknown, opened: OpenEngine) => Error | null;
}

/** Ends by a signal, with 0 after an orderly stop; or by an error, where the ledger is gone for good or a role does not go on. */
export async function serveRoles(options: ServingOptions): Promise<never> {
  const { deployment, place, project, names } = options;
  await prepareProject(place, project);
  const draining = drainOnSignals({ exitCode: exitCodes.done, told: options.draining });
  const opened = await openEngine(deployment, {
    ...(project.path !== null && { handlers: handlersOf(place, project) }), history: true, views: true, viewsMayBeAway: !options.roles.projector && !options.roles.gateway, times: true, logLevel: "info", logBindings: { roles: names.join(",") },
  });
  draining.drainWith(opened.close);
  surviveExceptions((error) => opened.engine.log.error({ err: error }, "uncaught"));
  if (deployment.distributed !== null && !deployment.blobsAreNamed) {
    opened.engine.log.warn({ folder: deployment.blobsFolder }, "payloads lie on this host alone: processes on other hosts need one folder, named by LOOPLEDGER_BLOBS_URL");
  }
  const { roles, host, port, principal, knows = project } = options;
  const serves: Serving = roles.worker || roles.checker ? servedBy(project) : { claims: () => false };
  const services = await startServices(opened, { roles, host, port, principal, stepLimitMs: stepLimitMs(project), serves, taking: takingOf(knows), ...(deployment.sessionsMax !== null && { sessionsMax: deployment.sessionsMax }) })
    .catch((error: unknown) => { throw options.refusal?.(error, opened) ?? error; });
  draining.drainWith(services.stop);
  options.ready(services);
  return Promise.race([untilLedgerIsLost(opened.engine), untilOver(services)]);
}

function takingOf(project: Project): Taking {
  const known = knownHandlers(project);
  return { missingHandlers: (goal) => (project.path === null ? [] : missingHandlers(goal, known)) };
}

/** After a signal the draining ends this process with its own code. */
async function untilOver({ over }: Services): Promise<never> {
  const reason = await over;
  if (reason !== null) throw reason;
  return new Promise<never>(() => undefined);
}
