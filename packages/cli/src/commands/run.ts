/** `run`: a local goal in this one process, until it ends or waits for a person or a budget. */
import type { SessionId } from "@loopledger/shared/core/brand";
import { endsUnknown } from "@loopledger/shared/core/session/endings";
import { quoted } from "@loopledger/shared/core/shell-word";
import type { SessionState } from "@loopledger/shared/core/session/state";
import { statusOf } from "@loopledger/shared/core/session/status";
import { Liveness, submitGoal } from "@loopledger/shared/runtime";
import { type Bind, type Register, example } from "../command.ts";
import { buildCrew } from "@loopledger/composition/crew/crew";
import { type Draining, drainOnSignals } from "@loopledger/composition/process/draining";
import type { OpenEngine } from "@loopledger/composition/engine/engine-options";
import { prepareProject } from "@loopledger/composition/project/prepare";
import { isOtherCheck, keepCommands } from "../running/kept-commands.ts";
import { canRun, knownHandlers } from "@loopledger/composition/project/known-handlers";
import { commandsPath, handlersOf, stepLimitMs } from "@loopledger/composition/project/handlers";
import { type Project, loadProject } from "@loopledger/composition/project/project";
import type { CommandContext } from "../context.ts";
import { UsageError } from "../errors.ts";
import { type ExitCode, exitCodeOf, exitCodes } from "../exit-codes.ts";
import { Family, driveSession, heldBy, isSettled, sessionHeld } from "../running/drive.ts";
import { attachTo } from "../running/attach.ts";
import { missingProgram } from "../running/programs.ts";
import { matchlessGlobs } from "../running/protected.ts";
import { rolesOf } from "../running/roles.ts";
import { type RunOptions, type RunPlan, lineOf, planRun } from "../running/plan.ts";
import { isSameGoal, raiseTo } from "../running/same-goal.ts";
import { surviveExceptions } from "@loopledger/composition/process/process-end";
import { endingText } from "../story/ending.ts";
import { standingHere } from "../story/standing.ts";
import { type Story, makeStory, quietStory } from "../story/story.ts";

const repeatable = (value: string, earlier: readonly string[] = []): string[] => [...earlier, value];

export const register: Register = (program, bind) => {
  program.command("run <goal>")
    .description("A goal (a text, or a file) until it ends or waits for a person or a budget; the same line again goes on with it.")
    .option("--maker <command>", "what does the work; without it the config's maker")
    .option("--check <command>", "what decides whether it is done; without it the config's check")
    .option("--shell", "hand the commands to /bin/sh instead of splitting them into words")
    .option("--stdin <form>", "what a maker reads on standard input: json (default) or prompt")
    .option("--protect <glob>", "files that the check relies on; may be given again", repeatable)
    .option("--env <name>", "a variable to hand on to the commands; may be given again", repeatable)
    .option("--iterations <n>", "at most so many builds (default 20)")
    .option("--cost <usd>", "at most so many dollars, as makers report them")
    .option("--timeout <seconds>", "at most so long a run of maker or check")
    .option("--id <id>", "the session's id (default: made of goal, maker, check and folder)")
    .option("--attach", "where another process holds the session, follow it")
    .option("--quiet", "no progress, and nothing of what the maker prints")
    .addHelpText("after", example('loopledger run "make the tests pass" --maker ./agent.sh --check "npm test" --protect "test/**"'))
    .action(runAction(bind));
};

function runAction(bind: Bind) {
  return bind<RunOptions>(async (context, [words = ""], options) => {
    if (context.remote) throw new UsageError("run works on a data folder; a gateway takes goals with submit.", { next: "Leave --url and LOOPLEDGER_URL out." });
    const project = await loadProject({ folder: context.cwd, configPath: context.configPath, dataFolder: context.dataFolder });
    const plan = await planRun({ words, options, project, cwd: context.cwd });
    for (const name of options.env ?? []) if (context.environment.variables[name] === undefined) context.print.note(`  --env ${name}: it is not set here, so the commands do not get it.`);
    for (const glob of await matchlessGlobs(plan, project, context.cwd)) context.print.note(`  --protect ${quoted(glob)}: no file here matches it, so it protects nothing now. Quote it, so that your shell leaves it alone, and mind that it stands on this folder.`);
    for (const judge of Object.values(plan.adHoc.checks)) {
      const missing = missingProgram(judge, { folder: context.cwd, path: await commandsPath(context.environment.variables) });
      if (missing !== null) context.print.note(`  --check ${missing}: no such program is here now. Unless the maker makes it, no verdict will come of it.`);
    }
    const family = new Family();
    const voice = { tell: context.print.note };
    const draining = drainOnSignals({ exitCode: exitCodes.interrupted, told: () => context.print.note("\nloopledger: letting go; the same line goes on with it.") });
    const open = await context.openEngine({ handlers: handlersOf(context, project, plan.adHoc), only: (id) => family.has(id), tell: (sentence) => voice.tell(sentence) });
    draining.drainWith(open.close);
    surviveExceptions((error) => open.engine.log.error({ err: error }, "uncaught"));
    return new Run({ context, words, options, project, plan, family, draining, open, voice }).toItsEnd();
  });
}

function otherGoal(sessionId: string): UsageError {
  return new UsageError(`The session ${sessionId} was started with another goal.`, {
    code: "session_conflict", next: "Take another --id, or the same goal as before.",
  });
}

interface RunParts {
  readonly context: CommandContext;
  /** The goal as it was typed. */
  readonly words: string;
  readonly options: RunOptions;
  readonly project: Project;
  readonly plan: RunPlan;
  readonly family: Family;
  readonly draining: Draining;
  readonly open: OpenEngine;
  /** Where warnings go: into the story, once there is one. */
  readonly voice: { tell: (sentence: string) => void };
}

class Run {
  readonly #parts: RunParts;
  readonly #story: Story;

  constructor(parts: RunParts) {
    this.#parts = parts;
    const { context, options, open } = parts;
    const { print } = context;
    this.#story = options.quiet ? quietStory : makeStory({
      stream: process.stderr, paint: print.paintNotes, redraws: print.redrawsNotes, from: open.startedAt, names: (id) => id !== parts.plan.id && !id.startsWith(`${parts.plan.id}-`), nowMs: open.engine.clock.now,
    });
    if (!options.quiet) parts.voice.tell = this.#story.line;
  }

  async toItsEnd(): Promise<ExitCode> {
    const { context, family, open } = this.#parts;
    const sessionId = await this.#chooseId();
    family.add(sessionId);
    family.whenMet((child) => void open.engine.folds.open(child).catch((error: unknown) => open.engine.log.error({ err: error, session: child }, "child")));
    const before = await open.engine.folds.open(sessionId);
    this.#refuseOther(before);
    if (before.end && isSettled(before) && !endsUnknown(before.end)) {
      if (!context.json) context.print.note(`The session ${sessionId} has ended already; another --id starts a new one.`);
      return this.#close(before);
    }
    const pid = await this.#holder(before);
    if (pid === null) return this.#close(await this.#carry(sessionId));
    if (!this.#parts.options.attach) throw sessionHeld(sessionId, pid);
    this.#story.line(`Following ${sessionId}, which process ${pid} works on.`);
    this.#story.listen(open.engine.folds);
    return this.#close(await attachTo(open.engine, sessionId, this.#parts.draining.signal));
  }

  /** An id stands for one goal. How it ended says nothing of another goal, nor of another check. */
  #refuseOther({ sessionId, submission, end }: SessionState): void {
    const { context, plan } = this.#parts;
    if (!submission) return;
    if (!isSameGoal(submission.goal, plan.goal)) throw otherGoal(sessionId);
    if (end && !endsUnknown(end) && isOtherCheck(context.dataFolder, sessionId, plan.adHoc)) {
      throw new UsageError(`The session ${sessionId} has ended, and its check was another command.`, { code: "session_conflict", next: "Take another --id: what was found then says nothing of this check." });
    }
  }

  /** A derived id whose session has ended makes room for the next: `-2`, `-3`. */
  async #chooseId(): Promise<SessionId> {
    const { open, plan } = this.#parts;
    for (let n = 1; ; n++) {
      const id = (n === 1 ? plan.id : `${plan.id}-${n}`) as SessionId;
      this.#parts.family.add(id);
      const state = await open.engine.folds.open(id);
      if (plan.idIsGiven || !state.end || endsUnknown(state.end)) return id;
    }
  }

  #holder(state: SessionState): Promise<number | null> {
    const { open, project } = this.#parts;
    return heldBy(open.engine, new Liveness(open.engine, stepLimitMs(project)), state);
  }

  async #carry(sessionId: SessionId): Promise<SessionState> {
    const { context, draining, family, open, options, plan, project, words } = this.#parts;
    await prepareProject(context, project);
    this.#story.listen(open.engine.folds);
    await this.#takeIn(sessionId);
    await keepCommands(context.dataFolder, sessionId, { folder: project.folder, adHoc: plan.adHoc, cwd: context.cwd, line: lineOf(words, options, sessionId) });
    const known = knownHandlers(project, plan.adHoc);
    const crew = await buildCrew(open.engine, {
      roles: await rolesOf(["scheduler", "worker", "checker"]), stepLimitMs: stepLimitMs(project), live: this.#story.live, alone: true,
      serves: { claims: (state) => family.has(state.sessionId) && canRun(known, state) },
    });
    draining.drainWith(async () => {
      await crew.stop();
      await open.close();
    });
    try {
      return await driveSession(sessionId, { engine: open.engine, crew, family, stopping: draining.signal });
    } finally {
      await crew.stop();
    }
  }

  /** Submits the goal, or goes on with the session that has it. */
  async #takeIn(sessionId: SessionId): Promise<void> {
    const { context, open, plan } = this.#parts;
    const actor = { kind: "human", id: context.environment.user } as const;
    const before = await open.engine.folds.open(sessionId);
    if (before.submission) return raiseTo(open.engine, before, { asked: plan.goal.budget, actor, note: this.#story.line });
    const { kind, state } = await submitGoal(open.engine, plan.goal, { actor, id: sessionId });
    // Somebody else was quicker.
    if (kind === "conflict") this.#refuseOther(state);
  }

  /** Shows how it stands, and gives the code of it. */
  async #close(state: SessionState): Promise<ExitCode> {
    const { context, draining, open } = this.#parts;
    // After a signal the draining ends this process with its own code.
    if (draining.signal.aborted) return new Promise<never>(() => undefined);
    draining.over();
    this.#story.close();
    const view = statusOf(state);
    if (context.json) context.print.json(view);
    else for (const line of endingText(state, standingHere(context, state), context.print.paint)) context.print.line(line);
    await open.close();
    return exitCodeOf(view);
  }
}
