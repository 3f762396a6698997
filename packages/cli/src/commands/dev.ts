/** `dev`: a whole project in one process, with its API; shows each record as it is made. */
import { resolve } from "node:path";
import { type Bind, type Register, example } from "../command.ts";
import { drainOnSignals } from "@loopledger/composition/process/draining";
import { prepareProject } from "@loopledger/composition/project/prepare";
import { handlersOf } from "@loopledger/composition/project/handlers";
import { loadProject } from "@loopledger/composition/project/project";
import { UsageError } from "../errors.ts";
import { exitCodes } from "../exit-codes.ts";
import { readGoals } from "../developing/goals.ts";
import { Development } from "../developing/development.ts";
import { surviveExceptions } from "@loopledger/composition/process/process-end";
import { portOf } from "../running/numbers.ts";

interface Options { readonly once?: boolean; readonly port?: string; readonly project?: string }

export const register: Register = (program, bind) => {
  program.command("dev")
    .description("All roles in this one process, the API on 127.0.0.1:7420, and each goal of the project's goals/ that the ledger does not know.")
    .option("--once", "leave when all goals, and what was submitted beside them, have ended or wait, with their exit code")
    .option("--port <n>", "the API's port (default 7420; 0 = any free one)")
    .option("--project <folder>", "the project's folder (default: this one)")
    .addHelpText("after", example("loopledger dev --project examples/repair", "loopledger dev --once"))
    .action(devAction(bind));
};

const defaultPort = 7420;

function devAction(bind: Bind) {
  return bind<Options>(async (given, _words, options) => {
    if (given.remote) throw new UsageError("dev works on a data folder of its own.", { next: "Leave --url and LOOPLEDGER_URL out." });
    const folder = resolve(given.cwd, options.project ?? ".");
    const port = portOf(options.port, defaultPort);
    const project = await loadProject({ folder, configPath: given.configPath, dataFolder: given.dataFolder });
    if (project.path === null) {
      throw new UsageError(`There is no loopledger.config.* in ${folder}.`, { code: "no_config", next: "`loopledger init` makes a project; --project names another folder." });
    }
    // What is printed must lead to this project's config from the folder in which it is read.
    const context = given.withConfig(project.path);
    const voice = { tell: context.print.note };
    const goals = await readGoals(project);
    await prepareProject(context, project);
    const draining = drainOnSignals({ exitCode: exitCodes.done, told: () => context.print.note("\nloopledger: draining") });
    const open = await context.openEngine({ handlers: handlersOf(context, project), history: true, views: true, tell: (sentence) => voice.tell(sentence) });
    draining.drainWith(open.close);
    surviveExceptions((error) => open.engine.log.error({ err: error }, "uncaught"));
    const development = new Development({ context, project, goals, open, draining, voice, once: options.once ?? false, port, portIsGiven: options.port !== undefined });
    return development.run();
  });
}
