/** A project at work: submits its goals, tells what happens, and shows each session's ending. */
import type { SessionId } from "@loopledger/shared/core/brand";
import { quoted } from "@loopledger/shared/core/shell-word";
import type { SessionState } from "@loopledger/shared/core/session/state";
import { statusOf } from "@loopledger/shared/core/session/status";
import { nextChange, submitGoal } from "@loopledger/shared/runtime";
import type { Draining } from "@loopledger/composition/process/draining";
import type { OpenEngine } from "@loopledger/composition/engine/engine-options";
import { stepLimitMs } from "@loopledger/composition/project/handlers";
import { type Services, startServices } from "@loopledger/composition/crew/services";
import { roleNames } from "@loopledger/composition/crew/roles";
import { servedBy } from "@loopledger/composition/project/known-handlers";
import type { Project } from "@loopledger/composition/project/project";
import type { CommandContext } from "../context.ts";
import { type ExitCode, exitCodeOf, exitCodes } from "../exit-codes.ts";
import { rolesOf } from "../running/roles.ts";
import { refuseLostLedger, untilLedgerIsLost } from "@loopledger/composition/engine/lost-ledger";
import { isSettled } from "../running/drive.ts";
import { endingText } from "../story/ending.ts";
import { standingHere } from "../story/standing.ts";
import { rowStory } from "../story/row-story.ts";
import { type Story, makeStory } from "../story/story.ts";
import type { ProjectGoal } from "./goals.ts";
import { announcePort, otherDev } from "./port-file.ts";
import { CliError } from "../errors.ts";

export interface DevelopmentParts {
  readonly context: CommandContext;
  readonly project: Project;
  readonly goals: readonly ProjectGoal[];
  readonly open: OpenEngine;
  readonly draining: Draining;
  /** Where warnings go: into the story, once there is one. */
  readonly voice: { tell: (sentence: string) => void };
  readonly once: boolean;
  readonly port: number;
  readonly portIsGiven: boolean;
}
const host = "127.0.0.1";
const longestMs = 1_000;
const lookMs = 20;

export class Development {
  readonly #parts: DevelopmentParts;
  readonly #story: Story;
  readonly #shown = new Map<SessionId, number>();

  constructor(parts: DevelopmentParts) {
    this.#parts = parts;
    const { context, open } = parts;
    this.#story = context.json ? rowStory(context.print, open.startedAt) : makeStory({
      stream: process.stdout, paint: context.print.paint, redraws: context.print.isTerminal, from: open.startedAt,
      names: (sessionId) => parts.goals.length !== 1 || sessionId !== parts.goals[0]?.goal.id, nowMs: open.engine.clock.now,
    });
    parts.voice.tell = this.#story.line;
  }

  async run(): Promise<ExitCode> {
    const { draining, goals, once, open } = this.#parts;
    const { engine } = open;
    const services = await this.#start();
    draining.drainWith(async () => {
      this.#story.close();
      await services.stop();
    });
    this.#story.listen(engine.folds);
    const sessions: SessionId[] = [];
    for (const goal of goals) sessions.push(await this.#submit(goal));
    if (!once) {
      engine.folds.listen((change) => this.#showEnding(change.state), "story.endings");
      for (const id of sessions) this.#showEnding(await engine.folds.open(id));
      return untilLedgerIsLost(engine);
    }
    const states: SessionState[] = [];
    for (let ids = sessions; ids.length > 0 && !draining.signal.aborted; ids = await this.#leftToThis(states, services)) {
      for (const id of ids) states.push(await this.#untilSettled(id, services));
    }
    return this.#leave(states, services);
  }

  /** Starts the roles. With `--once` a taken port is no reason to give up, unless that port was asked for. */
  async #start(): Promise<Services> {
    const { context, open, once, port, portIsGiven, project } = this.#parts;
    const dim = (text: string): void => this.#story.line(context.print.paint("dim", text));
    try {
      const services = await startServices(open, {
        roles: await rolesOf(roleNames.filter((name) => name !== "intake" || open.engine.inbox !== undefined)), stepLimitMs: stepLimitMs(project), serves: servedBy(project), live: this.#story.live, host, port, portMayBeTaken: once && !portIsGiven, principal: context.environment.user,
      });
      if (services.port === null) dim(`Port ${port} is taken, so there is no API this time (--port names another one); data lies in ${context.where}.`);
      else dim(`The API is on http://${host}:${services.port}; data lies in ${context.where}. This is process ${process.pid}; ${once ? "it leaves when the goals have ended" : "Ctrl-C ends it"}.`);
      if (services.port === null) return services;
      const withdraw = announcePort({ port: services.port, self: open.engine.host.self(), dataFolder: context.dataFolder });
      return { ...services, stop: () => services.stop().finally(withdraw) };
    } catch (error) {
      const taken = error instanceof CliError && error.code === "port_taken";
      throw (taken ? otherDev({ port, host: open.engine.host, dataFolder: context.dataFolder }) : null) ?? error;
    }
  }

  /** Submits a goal; an equal one that is there goes on, another one under its id is left as it is. */
  async #submit({ file, goal }: ProjectGoal): Promise<SessionId> {
    const { context, open } = this.#parts;
    const { kind, sessionId, state } = await submitGoal(open.engine, goal, { actor: { kind: "human", id: context.environment.user } });
    const dim = (text: string): void => this.#story.line(context.print.paint("dim", text));
    if (kind === "conflict") dim(`${file} is not the goal that ${sessionId} was started with; that session is left as it is. Give the file another id to start it.`);
    if (kind === "same") dim(isSettled(state) ? knownWords(context, state) : `${sessionId} goes on where it was.`);
    return sessionId;
  }

  /** Sessions that others submitted, that can go on here, and that no other live process holds. */
  async #leftToThis(known: readonly SessionState[], { crew }: Services): Promise<SessionId[]> {
    const { open: { engine }, project } = this.#parts;
    const { claims } = servedBy(project);
    const left: SessionId[] = [];
    for (const id of engine.folds.ids()) {
      const state = engine.folds.peek(id);
      if (!state?.submission || isSettled(state) || !claims(state) || known.some(({ sessionId }) => sessionId === id)) continue;
      const isHeld = state.owner !== null && state.owner.id !== engine.ownerId && (await crew.liveness.look(state.owner)) === "live";
      if (!isHeld) left.push(id);
    }
    return left;
  }

  async #untilSettled(sessionId: SessionId, services: Services): Promise<SessionState> {
    const { draining, open } = this.#parts;
    for (;;) {
      const state = await open.engine.folds.open(sessionId);
      const settled = isSettled(state);
      if (draining.signal.aborted) return state;
      // What is told as done must stand on a ledger that is still there.
      await refuseLostLedger(open.engine);
      if (settled && !services.crew.offers.carries(sessionId)) return state;
      await nextChange(open.engine, sessionId, { maxMs: settled ? lookMs : longestMs, signal: draining.signal });
    }
  }

  /** The code of the first goal that is not done; 0 where all are. */
  async #leave(states: readonly SessionState[], services: Services): Promise<ExitCode> {
    const { draining } = this.#parts;
    // After a signal the draining ends this process with its own code.
    if (draining.signal.aborted) return new Promise<never>(() => undefined);
    draining.over();
    for (const state of states) this.#tellEnding(state);
    if (states.length === 0) this.#story.line("The project has no goals: a file in goals/ is one.");
    this.#story.close();
    await services.stop();
    return states.map((state) => exitCodeOf(statusOf(state))).find((code) => code !== exitCodes.done) ?? exitCodes.done;
  }

  /** Once for each time that a session comes to rest. */
  #showEnding(state: SessionState): void {
    if (!state.submission || !isSettled(state)) return;
    if (this.#shown.get(state.sessionId) === state.seq) return;
    this.#shown.set(state.sessionId, state.seq);
    // Where the ledger is gone that is told, and nothing that stood on it.
    void refuseLostLedger(this.#parts.open.engine).then(() => this.#tellRest(state), () => undefined);
  }
  #tellRest(state: SessionState): void {
    this.#tellEnding(state);
    this.#story.line(this.#parts.context.print.paint("dim", `Process ${process.pid} goes on serving; Ctrl-C ends it.`));
  }
  #tellEnding(state: SessionState): void {
    const { context } = this.#parts;
    if (context.json) return;
    this.#story.line("");
    for (const line of endingText(state, standingHere(context, state), context.print.paint)) this.#story.line(line);
  }
}

/** Done is told, and not done anew: the same goal is the same session. */
function knownWords(context: CommandContext, state: SessionState): string {
  const id = quoted(state.sessionId);
  if (state.end?.disposition !== "done") return `${state.sessionId} is known: it is ${standingWords(state)} already.`;
  return `${state.sessionId} is known: it is done already (not checked again: ${context.hint(`\`loopledger verify ${id}\``)} does so; give the goal another id to begin anew).`;
}
function standingWords(state: SessionState): string {
  const { disposition, reason } = statusOf(state);
  return `${disposition.replace("_", " ")}${reason === null ? "" : ` (${reason.replaceAll("_", " ")})`}`;
}
