/** `reconcile ID KEY`: says what became of an effect whose outcome nobody knows; the session then goes on. */
import type { LookAnswer } from "@loopledger/shared/core/effects/handling";
import type { Json } from "@loopledger/shared/core/json";
import type { Effect } from "@loopledger/shared/core/session/state";
import { type Acted, type OpenSession, withSession } from "../acts/act.ts";
import { refuseAgents } from "../acts/agents.ts";
import { type Settling, settle } from "../acts/reconciling.ts";
import { tellActed } from "../acts/telling.ts";
import { type Register, example } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { UsageError } from "../errors.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { jsonOf } from "../reading/flags.ts";

interface Options { readonly happened?: boolean; readonly didNotHappen?: boolean; readonly result?: string; readonly evidence?: string }

export const register: Register = (program, bind) => {
  program.command("reconcile <id> <key>").description("settles an effect whose outcome is unknown")
    .option("--happened", "it took effect").option("--did-not-happen", "it did not; waits until no late call can arrive any more")
    .option("--result <json>", "with --happened: what the call would have answered").option("--evidence <text>", "how you know")
    .addHelpText("after", example(
      "loopledger reconcile fix-login deploy:production:067138a --happened --result '{\"url\": \"https://…\"}'",
      "loopledger reconcile fix-login deploy:production:067138a --did-not-happen --evidence 'the release page does not list it'",
    ))
    .action(bind<Options>((context, [id = "", key = ""], options) => reconcile(context, id, settlingOf(key, options))));
};

function settlingOf(key: string, options: Options): Settling {
  const { happened = false, didNotHappen = false, result, evidence } = options;
  if (happened === didNotHappen) throw new UsageError("Say one of --happened and --did-not-happen.");
  if (didNotHappen && (evidence ?? "").trim() === "") throw new UsageError("--did-not-happen takes --evidence: how you know.");
  if (evidence?.trim() === "TEXT") throw new UsageError("TEXT stands for what you saw: put your own words in its place. Nothing was settled.");
  if (didNotHappen && result !== undefined) throw new UsageError("--result goes with --happened only.");
  return {
    key, outcome: happened ? "happened" : "did_not_happen", evidence: evidence ?? "a person's word",
    result: result === undefined ? undefined : (jsonOf(result, "--result") as Json),
  };
}

async function reconcile(context: CommandContext, id: string, settling: Settling): Promise<ExitCode> {
  refuseAgents(context, "To say what became of an effect");
  const acted = context.remote
    ? await (await import("../remote/remote-acts.ts")).reconcileRemotely(context.remote, id, { settling, note: context.print.note })
    : await here(context, id, settling);
  const said = settling.outcome === "happened" ? "it happened" : "it did not happen";
  await tellActed(context, acted, `${settling.key} is settled: ${said}.`);
  return exitCodes.done;
}

function here(context: CommandContext, id: string, settling: Settling): Promise<Acted> {
  return withSession(context, id, (session) => settle(session, settling, {
    look: (effect, epoch) => lookAt(context, session, { effect, epoch }),
    note: context.print.note,
  }));
}

/** Asks the effect's target with the tool of this project's config; null where it has none that looks. */
async function lookAt(context: CommandContext, { engine, sessionId }: OpenSession, { effect, epoch }: { readonly effect: Effect; readonly epoch: number }): Promise<LookAnswer | null> {
  const [{ loadProject }, { handlersOf }, { whole }] = await Promise.all([
    import("@loopledger/composition/project/project"), import("@loopledger/composition/project/handlers"), import("@loopledger/shared/runtime"),
  ]);
  const project = await loadProject({ folder: context.cwd, configPath: context.configPath, dataFolder: context.dataFolder });
  const tool = (await handlersOf(context, project)(engine)).tool(effect.tool);
  const args = await whole(engine, sessionId, effect.args);
  if (!tool?.fences || !args) return null;
  return tool.look({ sessionId, epoch: epoch as never, key: effect.key, args: args.value }, AbortSignal.timeout(tool.timeoutSeconds * 1000));
}
