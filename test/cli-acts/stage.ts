/**
 * A data folder with a story in it: one process that carries sessions with the handlers of the story, and the command, which is
 * started as its own process on the same folder.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { reviewRunner } from "@loopledger/checker/checker";
import { startGateway } from "@loopledger/gateway/gateway";
import { type HandlersConfigInput, makeHandlers, startStepServer } from "@loopledger/handlers/index";
import { makeScheduler } from "@loopledger/scheduler/scheduler";
import { openFolderBlobs } from "@loopledger/shared/blobs";
import type { Epoch, OwnerId, SessionId } from "@loopledger/shared/core/brand";
import type { Goal } from "@loopledger/shared/core/events/goal";
import type { DataOf } from "@loopledger/shared/core/events/index";
import { digestOf } from "@loopledger/shared/core/json";
import type { SessionState } from "@loopledger/shared/core/session/state";
import { type Draft, type Engine, Carrier, Liveness, appendAct, appendAll, makeEngine, submitGoal } from "@loopledger/shared/runtime";
import { openSqliteLedger, openSqliteOwnership } from "@loopledger/shared/sqlite";
import { createSystemClock, createSystemHost, createSystemIds } from "@loopledger/shared/system";
import { buildRunner } from "@loopledger/worker/worker";

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  /** The one JSON document on stdout. */
  json(): Record<string, never>;
  /** The rows on stdout. */
  rows(): Record<string, never>[];
}
export interface Stage {
  readonly folder: string;
  readonly engine: Engine;
  submit(id: string, goal?: Partial<Goal>): Promise<SessionId>;
  /** Carries the session until it rests or is over. */
  carry(id: string, cyclesMax?: number): Promise<SessionState>;
  act(id: string, draft: Draft): Promise<void>;
  /** An owner asked for a call and died; another one claimed after it, so that nobody knows the outcome. */
  loseOutcome(id: string, call: Partial<DataOf<"tool_requested">>): Promise<void>;
  /** Serves the API of this folder; `--url` of a command names it. */
  serve(): Promise<string>;
  /** Writes a file of the command's working folder. */
  write(name: string, content: string): void;
  state(id: string): Promise<SessionState>;
  /** Runs the command on the folder, to its end. */
  cli(...words: string[]): Promise<Ran>;
  /** Starts the command on the folder; `variables` are added to its environment. */
  start(words: readonly string[], variables?: Readonly<Record<string, string>>): Running;
  close(): Promise<void>;
}
export interface Running {
  readonly process: ChildProcess;
  readonly out: () => string;
  readonly ended: Promise<Ran>;
}

const root = join(import.meta.dirname, "../..");

/** `config` is what the sessions of the story run with; the file that the command reads is the test's own. */
export async function stage(config: HandlersConfigInput = {}): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), "loopledger-cli-"));
  const clock = createSystemClock();
  const ids = createSystemIds();
  const data = join(folder, "data");
  const ledger = openSqliteLedger({ folder: data, clock, ids });
  const ownership = openSqliteOwnership({ folder: data, clock });
  const blobs = openFolderBlobs({ folder: join(data, "blobs"), clock, ids });
  const steps = await startStepServer();
  const handlers = makeHandlers(config, {
    folder, environment: { PATH: process.env["PATH"] }, sessionFolder: (id) => join(data, "runs", encodeURIComponent(id)), blobs, steps, dataFolder: data,
  });
  const engine = makeEngine({ ledger, ownership, blobs, clock, ids, host: createSystemHost(), handlers }, { leaseMs: 2_000, silenceMs: 60_000 });
  await engine.folds.start(await ledger.end());
  const liveness = new Liveness(engine, () => 60_000);
  await liveness.start();
  const carrier = new Carrier(engine, { runners: [buildRunner(engine), reviewRunner(engine)], scheduler: makeScheduler(engine), liveness });
  const stops: (() => Promise<void>)[] = [];
  const state = (id: string): Promise<SessionState> => engine.folds.open(id as SessionId);
  const start = (words: readonly string[], variables: Readonly<Record<string, string>> = {}): Running => startCommand(folder, words, variables);
  return {
    folder, engine, state, start,
    submit: async (id, goal = {}) => {
      const whole = { goal: "Make the test pass", maker: "maker", check: "check", policy: { failureFirst: false }, ...goal } as Goal;
      return (await submitGoal(engine, whole, { actor: { kind: "human", id: "ann" }, id: id as SessionId })).sessionId;
    },
    carry: async (id, cyclesMax) => {
      await carrier.carry(id as SessionId, { stopping: new AbortController().signal, ...(cyclesMax !== undefined && { cyclesMax }) });
      return state(id);
    },
    act: async (id, draft) => {
      const verdict = await appendAct(engine, id as SessionId, draft);
      if (verdict.kind !== "accepted") throw new Error(`${draft.type} was not accepted: ${JSON.stringify(verdict)}`);
    },
    loseOutcome: (id, call) => loseOutcome(engine, id as SessionId, call),
    serve: async () => {
      const gateway = await startGateway(engine, { port: 0 });
      stops.push(() => gateway.stop());
      return gateway.url;
    },
    write: (name, content) => writeFileSync(join(folder, name), content),
    cli: (...words) => start(words).ended,
    close: async () => {
      for (const stop of stops) await stop();
      await liveness.stop();
      await engine.folds.close();
      await steps.close();
      await ownership.close();
      await ledger.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function loseOutcome(engine: Engine, sessionId: SessionId, call: Partial<DataOf<"tool_requested">>): Promise<void> {
  const { open } = await engine.folds.open(sessionId);
  if (!open) throw new Error("nothing is dispatched");
  const host = { ...engine.host.self(), pid: 4_194_000, startTime: "1" };
  const args = call.args ?? { to: "production" };
  const data = {
    tool: "deploy", args, argsDigest: digestOf(args, engine.ids.sha256), contract: "lookup", fences: false, callWindowSeconds: 60, mutates: true, key: "deploy:1",
    keySource: "tool", dispatch: open.eventId, leaf: open.leaf, iteration: open.iteration, ordinal: 0, ...call,
  } as const;
  const claims = { dispatch: open.eventId, serves: ["build" as const, "review" as const], leaseMs: 100, host };
  const by = (epoch: number) => ({ epoch: epoch as Epoch, ownerId: `dead-${epoch}` as OwnerId });
  const actor = { kind: "worker", id: "dead" } as const;
  const { epoch } = await engine.folds.open(sessionId);
  const verdicts = await appendAll(engine, sessionId, [
    engine.author.write(sessionId, { type: "claimed", data: claims, actor }, by(epoch + 1)),
    engine.author.write(sessionId, { type: "tool_requested", data, actor }, { ...by(epoch + 1), n: 1, dispatch: open.eventId }),
    engine.author.write(sessionId, { type: "claimed", data: claims, actor }, by(epoch + 2)),
  ]);
  if (verdicts.some((verdict) => verdict.kind !== "accepted")) throw new Error(JSON.stringify(verdicts));
}

function startCommand(folder: string, words: readonly string[], variables: Readonly<Record<string, string>>): Running {
  const { LOOPLEDGER_URL: _url, LOOPLEDGER_DATA: _data, LOOPLEDGER_STEP_TOKEN: _token, ...inherited } = process.env;
  const child = spawn(process.execPath, [join(root, "packages/cli/src/main.ts"), ...words], {
    cwd: folder, stdio: ["ignore", "pipe", "pipe"],
    env: { NODE_COMPILE_CACHE: join(root, "node_modules/.cache/node-compile"), ...inherited, LOOPLEDGER_DATA: join(folder, "data"), USER: "bob", ...variables },
  });
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => { out += text; });
  child.stderr.setEncoding("utf8").on("data", (text: string) => { err += text; });
  const ended = new Promise<Ran>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({
      code, out, err,
      json: () => JSON.parse(out) as Record<string, never>,
      rows: () => out.trimEnd().split("\n").filter((line) => line !== "").map((line) => JSON.parse(line) as Record<string, never>),
    }));
  });
  return { process: child, out: () => out, ended };
}
