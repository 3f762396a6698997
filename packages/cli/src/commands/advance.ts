/** `advance`: claims a session, does the one cycle that is owed, and lets go: the body of a shell loop or a cron job. */
import type { SessionId } from "@loopledger/shared/core/brand";
import { quoted } from "@loopledger/shared/core/shell-word";
import { nextDue } from "@loopledger/shared/core/session/derive";
import { isOfRun } from "@loopledger/shared/core/session/handlers-named";
import type { SessionState } from "@loopledger/shared/core/session/state";
import { standingOf, statusOf } from "@loopledger/shared/core/session/status";
import { type Engine, nextChange } from "@loopledger/shared/runtime";
import { type Bind, type Register, example } from "../command.ts";
import { rolesOf } from "../running/roles.ts";
import { buildCrew } from "@loopledger/composition/crew/crew";
import { type Draining, drainOnSignals } from "@loopledger/composition/process/draining";
import { canRun, knownHandlers, missingHandlers } from "@loopledger/composition/project/known-handlers";
import { hasLedger } from "@loopledger/composition/ports/data-folder";
import { prepareProject } from "@loopledger/composition/project/prepare";
import { handlersOf, stepLimitMs } from "@loopledger/composition/project/handlers";
import { loadProject } from "@loopledger/composition/project/project";
import type { CommandContext } from "../context.ts";
import { CliError, UsageError, unknownSession } from "../errors.ts";
import { type ExitCode, exitCodeOf, exitCodes } from "../exit-codes.ts";
import { refuseLostLedger } from "@loopledger/composition/engine/lost-ledger";
import { isSettled } from "../running/drive.ts";
import { nextHere, standingHere } from "../story/standing.ts";
import { seconds } from "../story/telling.ts";

export const register: Register = (program, bind) => {
  program.command("advance <id>")
    .description("Claims a session, does the one cycle that is owed, and lets go. 0 ended, 8 more is owed or a timer is not due, 9 held, else the code of its status.")
    .addHelpText("after", example("while loopledger advance fix-login; [ $? = 8 ]; do :; done"))
    .action(advanceAction(bind));
};

/** How long a timer that is not due is waited for. */
const sleepMsMax = 1_000;

function advanceAction(bind: Bind) {
  return bind(async (context, [id = ""]) => {
    if (context.remote) throw new UsageError("advance works on a ledger, with the handlers of this folder.", { next: "Leave --url and LOOPLEDGER_URL out." });
    const sessionId = id as SessionId;
    if (context.environment.kafkaBrokers === null && !hasLedger(context.dataFolder)) throw unknownSession(id, context.where);
    const project = await loadProject({ folder: context.cwd, configPath: context.configPath, dataFolder: context.dataFolder });
    const draining = drainOnSignals({ exitCode: exitCodes.interrupted });
    const open = await context.openEngine({ handlers: handlersOf(context, project), only: (one) => one === sessionId });
    draining.drainWith(open.close);
    const before = await open.engine.folds.open(sessionId);
    if (!before.submission) throw unknownSession(id, context.where);
    if (isSettled(before)) return tell(context, before, "nothing is owed");
    if (isOfRun(before)) throw adHocSession(context, before);
    const known = knownHandlers(project);
    const missing = missingHandlers(before.submission.goal, known);
    if (missing.length > 0) throw noHandlers(id, missing);
    await prepareProject(context, project);
    const crew = await buildCrew(open.engine, { roles: await rolesOf(["scheduler", "worker", "checker"]), stepLimitMs: stepLimitMs(project), serves: { claims: (state) => canRun(known, state) } });
    draining.drainWith(async () => {
      await crew.stop();
      await open.close();
    });
    const controller = new AbortController();
    draining.signal.addEventListener("abort", () => controller.abort(), { once: true });
    await sleepUntilDue(open.engine, before, controller.signal);
    const end = await crew.carrier.carry(sessionId, { stopping: controller.signal, cyclesMax: 1 });
    await atWork(draining);
    await refuseLostLedger(open.engine);
    const after = await open.engine.folds.open(sessionId);
    await crew.stop();
    await open.close();
    if (end.kind === "rest" && end.on === "holder") {
      throw new CliError("session_held", `The session ${id} is held by another live process (${after.owner?.host.pid ?? "unknown"}).`, {
        exitCode: exitCodes.held, next: "It goes on there; nothing was done here.",
      });
    }
    return tell(context, after, end.kind === "advanced" ? "one cycle was done" : "nothing could be done now");
  });
}

/** After a signal the draining ends this process with its own code. */
function atWork({ signal }: Draining): Promise<void> {
  return signal.aborted ? new Promise<never>(() => undefined) : Promise.resolve();
}

function sleepUntilDue(engine: Engine, state: SessionState, signal: AbortSignal): Promise<void> {
  const due = nextDue(state);
  const now = engine.logClock.nowAfter(state.at);
  if (due === null || due <= now) return Promise.resolve();
  return nextChange(engine, state.sessionId, { maxMs: Math.min(sleepMsMax, due - now + 1), signal });
}

function tell(context: CommandContext, state: SessionState, what: string): ExitCode {
  const { json, print } = context;
  const view = statusOf(state);
  if (json) print.json(view);
  else print.line(`${view.sessionId}  ${view.disposition}${view.reason ? ` (${view.reason})` : ""}, iteration ${view.iteration}: ${what} (${seconds(view.budget.wallSeconds.spent)} of running time)`);
  const code = isSettled(state) ? exitCodeOf(standingOf(state)) : exitCodes.running;
  // A loop around this command has ended, and not because the session is done: whoever reads its output has something to do.
  if (!json && code !== exitCodes.done && code !== exitCodes.running) {
    const { why, next } = standingHere(context, state);
    print.note(`${why}\n  next: ${next}`);
  }
  return code;
}

function adHocSession(context: CommandContext, { sessionId }: SessionState): CliError {
  const line = nextHere(context, sessionId, `loopledger run GOAL --maker COMMAND --check COMMAND --id ${quoted(sessionId)}`);
  return new CliError("ad_hoc_session", `The session ${sessionId} was started by run with commands of its own, which stand in no config. Nothing was claimed.`, {
    next: `Go on with the line that began it:  ${line}`,
  });
}

function noHandlers(id: string, faults: readonly string[]): CliError {
  return new CliError("handler_missing", `The config here cannot run ${id}. Nothing was claimed.`, {
    faults, next: "Type it in the project's folder, name its config with --config, or add what is missing.",
  });
}
