/**
 * What a person does to a session: one record on its ledger, and behind it what the fold then calls for. Or the same request to a
 * gateway. What the fold refuses becomes a sentence that says why, and what to do instead.
 */
import type { SessionId } from "@loopledger/shared/core/brand";
import type { Actor } from "@loopledger/shared/core/events/envelope";
import type { Act } from "@loopledger/shared/core/session/acts";
import type { SessionState } from "@loopledger/shared/core/session/state";
import type { StatusView } from "@loopledger/shared/core/session/status";
import type { Became, Engine } from "@loopledger/shared/runtime";
import type { CommandContext } from "../context.ts";
import { UsageError, unknownSession } from "../errors.ts";
import { refuse } from "./refusals.ts";

/** What became of an act that was taken. */
export interface Acted {
  readonly act: string;
  /** The record's seq; null where the same had been done before, or where a gateway does not tell. */
  readonly seq: number | null;
  /** The same had been done before: nothing new was written. */
  readonly repeated: boolean;
  readonly view: StatusView;
  /** The session after the act; null where only a gateway has it. */
  readonly state: SessionState | null;
}

export interface OpenSession {
  readonly engine: Engine;
  readonly sessionId: SessionId;
  readonly actor: Actor;
  state(): Promise<SessionState>;
  /** What became of the act, refused or not. */
  take(act: Act): Promise<Became>;
  /** Throws a `CliError` where the act is refused, unless the same was done before. */
  act(act: Act): Promise<Acted>;
}

/** Opens one session for acts. Throws `unknown_session`. */
export async function withSession<T>(context: CommandContext, id: string, work: (session: OpenSession) => Promise<T>): Promise<T> {
  const sessionId = id as SessionId;
  const opened = await context.openEngine({ reads: true, only: (one) => one === sessionId });
  try {
    const { engine } = opened;
    const state = await engine.folds.open(sessionId);
    if (state.seq === 0) throw unknownSession(id, context.where);
    return await work(sessionOn(engine, sessionId, { kind: "human", id: context.environment.user }));
  } finally {
    await opened.close();
  }
}

function sessionOn(engine: Engine, sessionId: SessionId, actor: Actor): OpenSession {
  const take = async (act: Act): Promise<Became> => {
    const { takeAct } = await import("@loopledger/shared/runtime");
    return takeAct(engine, sessionId, { act, actor }).catch(refuseUnfit);
  };
  return {
    engine, sessionId, actor, take, state: () => engine.folds.open(sessionId),
    act: async (act) => {
      const { seq, refused, repeated, state } = await take(act);
      if (refused && !repeated) throw refuse(act, refused, { state, actor });
      return actedOn(act.type, { seq, repeated, state });
    },
  };
}

/** What was typed and does not fit into the record that it would become: a text that is too long, say. */
function refuseUnfit(error: unknown): never {
  if (!(error instanceof Error) || error.name !== "InvalidRecord") throw error;
  throw new UsageError("What was given cannot be written on the ledger.", { code: "invalid_act", faults: [error.message.replace(/^\w+: (\w+\.)?/, "")] });
}

export async function actedOn(act: string, became: Pick<Acted, "seq" | "repeated"> & { readonly state: SessionState }): Promise<Acted> {
  const { statusOf } = await import("@loopledger/shared/core/session/status");
  return { act, ...became, view: statusOf(became.state) };
}
