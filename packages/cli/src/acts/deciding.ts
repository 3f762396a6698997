/** A person's answer to a checkpoint, bound to the digest of what was shown. */
import type { HumanDecision } from "@loopledger/shared/core/events/approval-decided";
import type { Json } from "@loopledger/shared/core/json";
import { decisionOf } from "@loopledger/shared/core/session/acts";
import { type CheckpointView, checkpointView, checkpointViews } from "@loopledger/shared/core/session/checkpoint-view";
import type { CommandContext } from "../context.ts";
import { UsageError } from "../errors.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { jsonOf } from "../reading/flags.ts";
import { noSuchCheckpoint } from "../reading/missing.ts";
import { type Acted, type OpenSession, withSession } from "./act.ts";
import { refuseAgents } from "./agents.ts";
import { tellActed } from "./telling.ts";

export interface Answer {
  readonly checkpoint: string;
  readonly decision: HumanDecision;
  readonly comment: string;
  /** JSON of `--action`, for MODIFY. */
  readonly action?: string | undefined;
  /** `--digest`: what the person was shown, where that was elsewhere; else it is shown here. */
  readonly digest?: string | undefined;
}
const sentences: Readonly<Record<HumanDecision, string>> = {
  APPROVE: "Approved: exactly the proposed action is done.", REJECT: "Rejected, for good: the action is not done and not asked about again.",
  RETRY: "The step runs again.", MODIFY: "Approved in its changed form: exactly that is done.", PAUSE: "Nothing is decided yet; it goes on waiting.",
};

export async function decide(context: CommandContext, id: string, answer: Answer): Promise<ExitCode> {
  refuseAgents(context, "A decision");
  if ((answer.decision === "MODIFY") !== (answer.action !== undefined)) {
    throw new UsageError("modify, and only modify, takes --action: the action that is to be done instead.", { next: `--action '{"tool": "deploy", "args": {}}'` });
  }
  const action = answer.action === undefined ? undefined : (jsonOf(answer.action, "--action") as Json);
  await tellActed(context, await decided(context, id, { ...answer, action }), sentences[answer.decision]);
  return exitCodes.done;
}

type Deciding = Omit<Answer, "action"> & { readonly action: Json | undefined };

async function decided(context: CommandContext, id: string, deciding: Deciding): Promise<Acted> {
  if (context.remote) return (await import("../remote/remote-acts.ts")).decideRemotely(context.remote, id, deciding);
  return withSession(context, id, async (session) => {
    const shown = await showing(context, session, deciding);
    const { decision, comment, checkpoint, action } = deciding;
    return session.act(decisionOf({ checkpoint, decision, comment, action, digest: deciding.digest ?? shown?.digest ?? "" }));
  });
}

/** What is decided on is shown before it is decided; an answer to what is not there yet must say what was shown elsewhere. */
async function showing({ json, print }: CommandContext, session: OpenSession, { checkpoint, digest, action }: Deciding): Promise<CheckpointView | null> {
  const { engine, sessionId } = session;
  const { appendAll, withDerived } = await import("@loopledger/shared/runtime");
  await appendAll(engine, sessionId, withDerived(engine, await session.state(), []));
  const state = await session.state();
  const looking = { now: engine.logClock.nowAfter(state.at), sha256: (text: string) => engine.ids.sha256(text) };
  const view = checkpointView(state, checkpoint, looking);
  if (!view && digest === undefined) throw noSuchCheckpoint(sessionId, checkpoint, checkpointViews(state, looking).map((one) => one.checkpoint));
  if (view && action !== undefined) refuseOtherKind(view.action, action);
  if (view && !json) print.note(`  ${view.trigger}: ${JSON.stringify(view.action)}`);
  return view;
}

/** A tool call is changed into a tool call: an action without a tool would let nothing through. */
function refuseOtherKind(proposed: Json, action: Json): void {
  const isCall = (one: Json): boolean => one !== null && typeof one === "object" && Object.hasOwn(one, "tool") && Object.hasOwn(one, "args");
  if (!isCall(proposed) || isCall(action)) return;
  throw new UsageError("The proposed action is a tool call, and so must the changed one be.", { next: `For example --action '${JSON.stringify(proposed)}'` });
}
