/** One act on this ledger, or the same act as a request to the gateway that --url names. */
import type { CommandContext } from "../context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { type Acted, withSession } from "./act.ts";
import type { ActDraft } from "./draft.ts";
import { tellActed } from "./telling.ts";

export async function perform(context: CommandContext, id: string, act: { readonly draft: ActDraft; readonly sentence: string }): Promise<ExitCode> {
  await tellActed(context, await performed(context, id, act.draft), act.sentence);
  return exitCodes.done;
}

async function performed(context: CommandContext, id: string, draft: ActDraft): Promise<Acted> {
  if (!context.remote) return withSession(context, id, (session) => session.act(draft));
  const { actRemotely } = await import("../remote/remote-acts.ts");
  return actRemotely(context.remote, id, draft);
}
