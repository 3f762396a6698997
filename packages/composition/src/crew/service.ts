/** One service as a process of its own: its settings, its one role, and how it ends. A service's main.ts is a call of this. */
import { describeError, errorText } from "../described.ts";
import { exitWith, keepAlive, surviveStrayErrors } from "../process/process-end.ts";
import { type Project, noProject } from "../project/project-shape.ts";
import { UsageError } from "../refusals.ts";
import type { ServiceSettings } from "../settings/service.ts";
import type { RoleName, Roles } from "./roles.ts";
import { serveRoles } from "./serving.ts";

export interface Service {
  readonly name: RoleName;
  /** Made once the settings are read. */
  readonly roles: (settings: ServiceSettings) => Roles;
  /** It runs makers or checks: without a project it would set every session aside. */
  readonly runsHandlers: boolean;
}

/** Runs the service until a signal or an error ends the process; everything that is wrong is told on stderr, with what to do next. */
export async function runService(readConfig: () => ServiceSettings, service: Service): Promise<never> {
  surviveStrayErrors();
  keepAlive();
  try {
    return await serve(readConfig(), service);
  } catch (error) {
    const described = describeError(error);
    process.stderr.write(errorText(described, false));
    return exitWith(described.exitCode);
  }
}

async function serve(settings: ServiceSettings, service: Service): Promise<never> {
  const { deployment, variables, cwd, port } = settings;
  const { dataFolder, configPath, host } = deployment;
  return serveRoles({
    deployment, host, port, roles: service.roles(settings), names: [service.name], principal: "local",
    place: { dataFolder, environment: { variables } },
    project: service.runsHandlers ? await projectIn({ folder: cwd, configPath, dataFolder }) : noProject(cwd),
    draining: () => process.stderr.write(`${service.name}: draining\n`),
    ready: (services) => process.stdout.write(`ready http://${host}:${services.port}\n`),
  });
}

async function projectIn(place: { readonly folder: string; readonly configPath: string | null; readonly dataFolder: string }): Promise<Project> {
  const { loadProject } = await import("../project/project.ts");
  const project = await loadProject(place);
  if (project.path !== null) return project;
  throw new UsageError(`There is no loopledger.config.* in ${place.folder}, so this process has nothing to run.`, {
    code: "no_config", next: "Name it with --config or LOOPLEDGER_CONFIG.",
  });
}
