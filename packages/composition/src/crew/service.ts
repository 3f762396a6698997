/** One service as a process of its own: its settings, its one role, and how it ends. A service's main.ts is a call of this. */
import { describeError, errorText } from "../described.ts";
import { exitWith, keepAlive, surviveStrayErrors } from "../process/process-end.ts";
import { type Project, noProject } from "../project/project-shape.ts";
import { needsKafka, UsageError } from "../refusals.ts";
import type { ServiceSettings } from "../settings/service.ts";
import type { RoleName, Roles } from "./roles.ts";
import { serveRoles } from "./serving.ts";

export interface Service {
  readonly name: RoleName;
  /** Made once the settings are read. */
  readonly roles: (settings: ServiceSettings) => Roles;
  /** It runs makers or checks: without a project it would set every session aside. */
  readonly runsHandlers: boolean;
  /** It looks at which handlers there are, where there is a project. */
  readonly knowsHandlers?: boolean;
  /** Its work is on Kafka: a data folder has none for it. */
  readonly needsKafka?: boolean;
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
  if (service.needsKafka && deployment.distributed === null) throw needsKafka(service.name);
  const place = { folder: cwd, configPath, dataFolder };
  return serveRoles({
    deployment, host, port, roles: service.roles(settings), names: [service.name], principal: "local",
    place: { dataFolder, environment: { variables } },
    project: service.runsHandlers ? await projectIn(place) : noProject(cwd),
    ...(service.knowsHandlers && { knows: await projectAt(place) }),
    draining: () => process.stderr.write(`${service.name}: draining\n`),
    ready: (services) => process.stdout.write(`ready http://${host}:${services.port}\n`),
  });
}

interface ProjectPlace { readonly folder: string; readonly configPath: string | null; readonly dataFolder: string }

async function projectAt(place: ProjectPlace): Promise<Project> {
  return (await import("../project/project.ts")).loadProject(place);
}
async function projectIn(place: ProjectPlace): Promise<Project> {
  const project = await projectAt(place);
  if (project.path !== null) return project;
  throw new UsageError(`There is no loopledger.config.* in ${place.folder}, so this process has nothing to run.`, {
    code: "no_config", next: "Name it with --config or LOOPLEDGER_CONFIG.",
  });
}
