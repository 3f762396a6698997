/**
 * What a person does to a session: one record on its ledger, and behind it what the fold then calls for. Or the same request to a
 * gateway. What the fold refuses becomes a sentence that says why, and what to do instead.
 */
import type { SessionId } from "@loopledger/shared/core/brand";
import type { Actor } from "@loopledger/shared/core/events/envelope";
import type { Verdict } from "@loopledger/shared/core/session/evolve";
import type { SessionState } from "@loopledger/shared/core/session/state";
import type { StatusView } from "@loopledger/shared/core/session/status";
import type { Draft, Engine } from "@loopledger/shared/runtime";
import type { CommandContext } from "../context.ts";
import { UsageError, unknownSession } from "../errors.ts";
import type { ActDraft } from "./draft.ts";
import { type Refused, refusalOf } from "./refusals.ts";

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
  /** What the fold says of the act once it is on the ledger. */
  judge(draft: ActDraft): Promise<Verdict>;
  /** Appends the act; throws a `CliError` where it is refused, unless the same was done before. */
  act(draft: ActDraft): Promise<Acted>;
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
  const state = (): Promise<SessionState> => engine.folds.open(sessionId);
  const judge = async (draft: ActDraft): Promise<Verdict> => {
    const { appendAct, appendAll, withDerived } = await import("@loopledger/shared/runtime");
    const verdict = await appendAct(engine, sessionId, { ...draft, actor } as Draft).catch(refuseUnfit);
    // The act may have been judged at another time than the batch foresaw: what it calls for is then written here.
    await appendAll(engine, sessionId, withDerived(engine, await state(), []));
    return verdict;
  };
  return {
    engine, sessionId, actor, state, judge,
    act: async (draft) => {
      const verdict = await judge(draft);
      const refused = refusedBy(verdict);
      if (refused && !(await isRepeat(draft, refused, await state()))) throw refusalOf(draft, refused, { state: await state(), actor });
      return actedOn(draft.type, { seq: verdict.kind === "accepted" ? verdict.seq : null, repeated: refused !== null, state: await state() });
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

export function refusedBy(verdict: Verdict): Refused | null {
  switch (verdict.kind) {
    case "accepted": return null;
    case "held": return { reason: "held", detail: verdict.detail };
    case "void": return { reason: verdict.reason, detail: "" };
  }
}

/** What was asked for is so already: an equal repeat of a decision, a second cancel, a second pause. */
async function isRepeat(draft: ActDraft, { reason }: Refused, state: SessionState): Promise<boolean> {
  if (draft.type === "cancel_requested" && state.end?.disposition === "cancelled") return true;
  if (draft.type === "approval_decided" && reason === "after_end") return (await import("@loopledger/shared/core/session/checkpoints")).isAnswered(state, draft.data);
  return reason === "duplicate";
}
