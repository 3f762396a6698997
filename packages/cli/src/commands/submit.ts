/** `submit FILE`: takes a goal in and prints the id of its session; the same goal again is the same session. */
import type { SessionId } from "@loopledger/shared/core/brand";
import { sessionIdPattern, sessionIdRule } from "@loopledger/shared/core/session-id";
import type { Goal } from "@loopledger/shared/core/events/goal";
import type { StatusView } from "@loopledger/shared/core/session/status";
import { type Register, example } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { CliError, UsageError } from "../errors.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { readGoalFile } from "../goal-file.ts";
import { waitForRest } from "./wait.ts";

interface Options { readonly id?: string; readonly wait?: boolean }

export const register: Register = (program, bind) => {
  program.command("submit <file>").description("takes a goal in (- is standard input) and prints the id of its session")
    .option("--id <id>", "the session's id (default: the goal's, else its digest)").option("--wait", "wait as `wait` does, and leave with its code")
    .addHelpText("after", example("loopledger submit goals/fix-login.yaml", "loopledger submit - --wait < goal.json"))
    .action(bind<Options>((context, [file = ""], options) => submit(context, file, options)));
};

export interface Taken {
  readonly created: boolean;
  readonly view: StatusView;
}

async function submit(context: CommandContext, file: string, { id, wait }: Options): Promise<ExitCode> {
  if (id !== undefined && !sessionIdPattern.test(id)) throw new UsageError(`--id "${id}" is no session id: ${sessionIdRule}`);
  const goal = await readGoalFile(file);
  const taken = context.remote ? await (await import("../remote/remote-acts.ts")).submitRemotely(context.remote, goal, id) : await takeIn(context, goal, id);
  const { sessionId } = taken.view;
  if (!taken.created) context.print.note(`  The session ${sessionId} has this goal already; nothing was begun anew.`);
  if (context.json && !wait) context.print.json({ created: taken.created, ...taken.view });
  if (!context.json) context.print.line(sessionId);
  await noteMissing(context, goal);
  return wait ? waitForRest(context, sessionId, { timeoutMs: null, tell: context.print.note }) : exitCodes.done;
}

async function takeIn(context: CommandContext, goal: Goal, id: string | undefined): Promise<Taken> {
  const [{ idOfGoal, submitGoal }, { createSystemIds }, { statusOf }] = await Promise.all([
    import("@loopledger/shared/runtime"), import("@loopledger/shared/system"), import("@loopledger/shared/core/session/status"),
  ]);
  const sessionId = (id ?? idOfGoal(goal, { ids: createSystemIds() })) as SessionId;
  const { engine, close } = await context.openEngine({ only: (one) => one === sessionId });
  try {
    const submitted = await submitGoal(engine, goal, { actor: { kind: "human", id: context.environment.user }, id: sessionId });
    if (submitted.kind === "conflict") throw goalConflict(sessionId);
    return { created: submitted.kind === "new", view: statusOf(submitted.state) };
  } finally {
    await close();
  }
}

/**
 * What the goal names and the config here does not have. Another process may have it, so it is told and changes nothing; nor does a config
 * that is not there or not right: whoever runs it will say so.
 */
async function noteMissing(context: CommandContext, goal: Goal): Promise<void> {
  const [{ loadProject }, { knownHandlers, missingHandlers }] = await Promise.all([
    import("@loopledger/composition/project/project"), import("@loopledger/composition/project/known-handlers"),
  ]);
  const { cwd: folder, configPath, dataFolder } = context;
  const project = await besideStdout(() => loadProject({ folder, configPath, dataFolder })).catch(() => null);
  // On Kafka and behind a gateway others serve, with configs of their own: that there is none here says nothing.
  const { path } = project ?? {};
  if (project === null || (path === null && (context.remote !== null || context.environment.kafkaBrokers !== null))) return;
  const faults = missingHandlers(goal, knownHandlers(project));
  if (path === null && faults.length > 0) context.print.note("  note: there is no loopledger.config.* in this folder.");
  for (const fault of faults) context.print.note(`  note: ${path === null ? fault.replace(/ in the config \(.*\)$/, " here") : fault}; the session waits for a process that has it.`);
}

/** A config is a program: what it prints while it is loaded goes to stderr, since stdout is the session's id. */
async function besideStdout<T>(load: () => Promise<T>): Promise<T> {
  const { stdout, stderr } = process;
  const { write } = stdout;
  stdout.write = stderr.write.bind(stderr) as typeof write;
  try {
    return await load();
  } finally {
    stdout.write = write;
  }
}

function goalConflict(sessionId: string): CliError {
  return new CliError("session_conflict", `The session ${sessionId} was begun with another goal.`, {
    next: "Take another --id; a goal never changes once it is taken.",
  });
}
