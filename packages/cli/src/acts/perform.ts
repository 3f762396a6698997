/** One act on this ledger, or the same act as a request to the gateway that --url names. */
import type { Act } from "@loopledger/shared/core/session/acts";
import type { CommandContext } from "../context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { type Acted, withSession } from "./act.ts";
import { tellActed } from "./telling.ts";

export async function perform(context: CommandContext, id: string, { draft, sentence }: { readonly draft: Act; readonly sentence: string }): Promise<ExitCode> {
  await tellActed(context, await performed(context, id, draft), sentence);
  return exitCodes.done;
}

async function performed(context: CommandContext, id: string, act: Act): Promise<Acted> {
  if (!context.remote) return withSession(context, id, (session) => session.act(act));
  const { actRemotely } = await import("../remote/remote-acts.ts");
  return actRemotely(context.remote, id, act);
}
