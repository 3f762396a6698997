/** What a person does to a session, as requests to a gateway. The record is written there, in the name of who the token belongs to. */
import type { Goal } from "@loopledger/shared/core/events/goal";
import type { Json } from "@loopledger/shared/core/json";
import type { Act } from "@loopledger/shared/core/session/acts";
import type { StatusView } from "@loopledger/shared/core/session/status";
import type { Acted } from "../acts/act.ts";
import type { Settling } from "../acts/reconciling.ts";
import { GatewayRefusal, type Remote, ask, send, sessionPath } from "./gateway.ts";

type Route = { readonly path: string; readonly body: unknown };

/** Where an act is asked for, and in which form. Decisions and reconciliations have their own ways below. */
function routeOf({ type, data }: Act): Route {
  switch (type) {
    case "cancel_requested": return { path: "cancel", body: data };
    case "pause_requested": return { path: "pause", body: data };
    case "resumed": return { path: "resume", body: data };
    case "guidance": return { path: "guidance", body: data };
    case "budget_raised": return { path: "budget", body: data };
    case "checkpoint_requested": return { path: "checkpoints", body: data };
    case "approval_decided": case "reconciled": throw new TypeError(`${type} is not asked for in this way`);
  }
}

export async function actRemotely(remote: Remote, sessionId: string, act: Act): Promise<Acted> {
  const { path, body } = routeOf(act);
  return actedBy(act.type, await ask(remote, { method: "POST", path: sessionPath(sessionId, path), body }));
}

export interface RemoteDecision {
  readonly checkpoint: string;
  readonly decision: string;
  readonly comment: string;
  readonly action: Json | undefined;
  readonly digest?: string | undefined;
}
export async function decideRemotely(remote: Remote, sessionId: string, { checkpoint, decision, comment, action, digest }: RemoteDecision): Promise<Acted> {
  const body = { decision, comment, ...(action !== undefined && { action }), ...(digest !== undefined && { digest }) };
  return actedBy("approval_decided", await ask(remote, { method: "POST", path: sessionPath(sessionId, "decisions", checkpoint), body }));
}

export interface RemoteSettling {
  readonly settling: Settling;
  readonly note: (text: string) => void;
}
/** Waits as long as the gateway says that a late call can still arrive. */
export async function reconcileRemotely(remote: Remote, sessionId: string, { settling, note }: RemoteSettling): Promise<Acted> {
  const { key, outcome, evidence, result } = settling;
  const body = { key, outcome, evidence, ...(result !== undefined && { result }) };
  for (;;) {
    try {
      return actedBy("reconciled", await ask(remote, { method: "POST", path: sessionPath(sessionId, "reconciliations"), body }));
    } catch (error) {
      if (!(error instanceof GatewayRefusal) || error.code !== "window_open" || error.retryAfterSeconds === null) throw error;
      note(`${error.message} This waits ${error.retryAfterSeconds} s until that is over.`);
      const { setTimeout: pause } = await import("node:timers/promises");
      await pause(error.retryAfterSeconds * 1000);
    }
  }
}

/** The id is chosen here, as it is without a gateway, so that the same file is the same session either way. */
export async function submitRemotely(remote: Remote, goal: Goal, id: string | undefined): Promise<{ readonly created: boolean; readonly view: StatusView }> {
  const [{ idOfGoal }, { createSystemIds }] = await Promise.all([import("@loopledger/shared/runtime"), import("@loopledger/shared/system")]);
  const body = { ...goal, id: id ?? idOfGoal(goal, { ids: createSystemIds() }) };
  const response = await send(remote, { method: "POST", path: "/v1/sessions", body });
  return { created: response.status === 201, view: (await response.json()) as StatusView };
}

/** A gateway answers with the status after the act. */
function actedBy(act: string, view: StatusView): Acted {
  return { act, seq: null, repeated: false, view, state: null };
}
