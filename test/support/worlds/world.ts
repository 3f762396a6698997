/**
 * A world: one ledger, its lease service and blobs, and processes that share them. The same stories run in memory on
 * virtual time and on SQLite files on real time; in both a process can be paused, killed and left.
 */
import type { SessionId } from "@loopledger/shared/core/brand";
import { type Goal, goal } from "@loopledger/shared/core/events/goal";
import { lookUp } from "@loopledger/shared/core/session/persistent-map";
import type { SessionState } from "@loopledger/shared/core/session/state";
import type { LedgerFaults } from "@loopledger/shared/memory";
import type { LogEntry } from "@loopledger/shared/ports";
import { type HandlersConfigInput, type StepServer, makeHandlers } from "@loopledger/handlers/index";
import type { Blobs, Handlers, ReadModel } from "@loopledger/shared/ports";
import { appendAct, submitGoal } from "@loopledger/shared/runtime";
import { foldSession } from "./oracle.ts";
import type { Peer, PeerSettings } from "./peer.ts";

export interface Joining extends Omit<PeerSettings, "leaseMs"> {
  readonly handlers: HandlersConfigInput;
  /** Memory only: what happens between this process and the ledger. */
  readonly faults?: LedgerFaults;
  /** Changes what this process runs, beyond what a config can say. */
  readonly changed?: (handlers: Handlers) => Handlers;
  /** Memory only: the process has read models, changed like this. */
  readonly views?: (views: ReadModel) => ReadModel;
}
export interface World {
  readonly name: string;
  readonly leaseMs: number;
  join(joining: Joining): Promise<Peer>;
  /** Everything in the ledger, a partition after the other. */
  entries(): Promise<readonly LogEntry[]>;
  /** Moves time on, where it is virtual, until the condition gives something truthy. */
  until<T>(condition: () => T | Promise<T>, what: string): Promise<T>;
  /** Waits for an answer while time goes on. */
  drive<T>(answer: Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/**
 * The lease of a process where its end is not what a test is about: a busy machine lets a process stand still for seconds, and nobody
 * is to take its work meanwhile. Whoever is killed is known to be dead at once, and no lease is waited for.
 */
export const patientLeaseMs = 20_000;
/** The lease where its end is waited for, and nobody else could take the work too early. */
export const shortLeaseMs = 600;

export type Given = Partial<Omit<Goal, "id">>;

/** Submits a goal of these handlers through a process; its defaults are those of every goal. */
export async function submit(peer: Peer, id: string, given: Given = {}): Promise<SessionId> {
  const parsed = goal.parse({ goal: "deploy what the inputs name", maker: "maker", check: "check", ...given });
  const submitted = await submitGoal(peer.engine, parsed, { actor: { kind: "human", id: "olga" }, id: id as SessionId });
  return submitted.sessionId;
}

/** The state of a session, folded from the ledger itself. */
export async function stateOf(world: World, sessionId: SessionId): Promise<SessionState> {
  return foldSession(await world.entries(), sessionId).state;
}

/** Over, and said so. */
export function isOver(state: SessionState): boolean {
  return state.end !== null && state.statusOwed === null;
}

export async function untilOver(world: World, sessionId: SessionId): Promise<SessionState> {
  await world.until(async () => isOver(await stateOf(world, sessionId)), `the end of ${sessionId}`);
  return stateOf(world, sessionId);
}

/** What a person records about an effect whose answer was lost. */
export async function reconcile(peer: Peer, sessionId: SessionId, outcome: "happened" | "did_not_happen") {
  await peer.engine.folds.caughtUp();
  const state = await peer.engine.folds.open(sessionId);
  const effect = lookUp(state.effects, state.unsettled[0] ?? "");
  if (!effect) throw new Error(`nothing of ${sessionId} is unknown`);
  const data = { intent: effect.intent, key: effect.key, epoch: state.epoch, outcome, evidence: "looked at the target", by: "olga", result: { seen: true } };
  return appendAct(peer.engine, sessionId, { type: "reconciled", data, actor: { kind: "human", id: "olga" } });
}

export async function decideOn(peer: Peer, sessionId: SessionId, decision: "APPROVE" | "REJECT") {
  await peer.engine.folds.caughtUp();
  const state = await peer.engine.folds.open(sessionId);
  const checkpoint = state.pending[0] ?? "";
  const digest = lookUp(state.checkpoints, checkpoint)?.digest;
  if (!digest) throw new Error(`${sessionId} asks nothing`);
  const data = { checkpoint, decision, digest, comment: "looks right" };
  return appendAct(peer.engine, sessionId, { type: "approval_decided", data, actor: { kind: "human", id: "olga" } } as never);
}

/** Handlers of a process that runs functions only; exec handlers need a step server. */
export function handlersOf(config: HandlersConfigInput, deps: { readonly folder: string; readonly blobs: Blobs; readonly steps?: StepServer }): Handlers {
  const steps = deps.steps ?? noSteps;
  return makeHandlers(config, { folder: deps.folder, environment: {}, sessionFolder: (id) => `${deps.folder}/${id}`, blobs: deps.blobs, steps });
}
const noSteps: StepServer = {
  url: "", close: () => Promise.resolve(),
  mount: () => {
    throw new Error("this world runs functions only");
  },
};
