/** `serve`: any subset of the roles, until it is told to stop. */
import { type Bind, type Register, example } from "../command.ts";
import { type RoleName, roleNames } from "@loopledger/composition/crew/roles";
import { serveRoles } from "@loopledger/composition/crew/serving";
import { type Project, loadProject } from "@loopledger/composition/project/project";
import type { CommandContext } from "../context.ts";
import { otherDev } from "../developing/port-file.ts";
import { needsKafka } from "@loopledger/composition/refusals";
import { CliError, UsageError } from "../errors.ts";
import { portOf } from "../running/numbers.ts";
import { rolesOf } from "../running/roles.ts";

interface Options { readonly roles?: string; readonly port?: string; readonly host?: string }

export const register: Register = (program, bind) => {
  program.command("serve")
    .description("Serves the roles that are named; several processes may share one data folder. Each carries at most LOOPLEDGER_SESSIONS_MAX sessions at a time (100). Prints `ready` when it takes work.")
    .option("--roles <list>", `of ${roleNames.join(", ")} (default: all)`)
    .option("--port <n>", "gateway, or health and metrics (default: LOOPLEDGER_PORT, else 7420 with the gateway's role and any free one without it)")
    .option("--host <address>", "the address to listen on (default: LOOPLEDGER_HOST, else 127.0.0.1)")
    .addHelpText("after", example("loopledger serve --roles scheduler,worker,checker,projector --port 7421"))
    .action(serveAction(bind));
};

const gatewayPort = 7420;

function serveAction(bind: Bind) {
  return bind<Options>(async (context, _words, options) => {
    if (context.remote) throw new UsageError("serve works on a ledger; a gateway is served, not used, by it.", { next: "Leave --url and LOOPLEDGER_URL out." });
    const roles = rolesIn(options.roles);
    const deployment = await context.deployment();
    const hasTopic = deployment.distributed !== null;
    if (!hasTopic && roles.every((name) => name === "intake")) throw needsKafka("intake");
    const port = portOf(options.port, deployment.port ?? (roles.includes("gateway") ? gatewayPort : 0));
    const project = await projectFor(context, roles);
    const host = options.host ?? deployment.host;
    return serveRoles({
      deployment, place: context, project, host, port, names: roles, roles: await rolesOf(roles.filter((name) => hasTopic || name !== "intake")), principal: context.environment.user,
      draining: () => context.print.note("loopledger: draining"),
      ready: (services) => tellReady(context, { roles, port: services.port }),
      refusal: (error, { engine }) => {
        const taken = error instanceof CliError && error.code === "port_taken";
        return taken ? otherDev({ port, host: engine.host, dataFolder: context.dataFolder }) : null;
      },
    });
  });
}

function tellReady({ json, print, environment }: CommandContext, { roles, port }: { readonly roles: readonly RoleName[]; readonly port: number | null }): void {
  print.note(`loopledger: ${roles.join(", ")} on port ${port}`);
  if (roles.includes("intake") && environment.kafkaBrokers === null) print.note("loopledger: intake: a data folder has no goals topic; goals come by submit and by the gateway");
  if (json) print.json({ ready: true, roles, port });
  else print.line("ready");
}

function rolesIn(text: string | undefined): RoleName[] {
  if (text === undefined) return [...roleNames];
  const names = text.split(",").map((name) => name.trim()).filter((name) => name !== "");
  const unknown = names.filter((name) => !(roleNames as readonly string[]).includes(name));
  if (unknown.length > 0 || names.length === 0) {
    throw new UsageError(names.length === 0 ? "--roles names no role." : `--roles: there is no role ${unknown.join(", ")}.`, { next: `Roles are ${roleNames.join(", ")}.` });
  }
  return roleNames.filter((name) => names.includes(name));
}

/** A worker or checker without handlers would set every session aside. */
async function projectFor(context: CommandContext, roles: readonly RoleName[]): Promise<Project> {
  const project = await loadProject({ folder: context.cwd, configPath: context.configPath, dataFolder: context.dataFolder });
  if (project.path === null && (roles.includes("worker") || roles.includes("checker"))) {
    throw new UsageError(`There is no loopledger.config.* in ${context.cwd}, so a worker or checker has nothing to run.`, {
      code: "no_config", next: "Name it with --config, or make a project with `loopledger init`.",
    });
  }
  return project;
}
