/** `approvals`: what waits for a person, over all sessions. `approvals show`: one request, in full. */
import type { CheckpointView } from "@loopledger/shared/core/session/checkpoint-view";
import { quoted } from "@loopledger/shared/core/shell-word";
import { type Register, example } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { UsageError } from "../errors.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { plain } from "../reading/plain.ts";
import { withReader } from "../reading/open-reader.ts";

interface ShowOptions { readonly format: string }

export const register: Register = (program, bind) => {
  const approvals = program.command("approvals").description("the decisions that people are waited for, oldest first")
    .addHelpText("after", example("loopledger approvals", "loopledger approvals show fix-login cp-12ab --format markdown"))
    .action(bind((context) => list(context)));
  approvals.command("show <id> <checkpoint>").description("one request: what is proposed, and how the session stands")
    .option("--format <format>", "text, or markdown for a chat message or an issue comment", "text")
    .addHelpText("after", example("loopledger approvals show fix-login cp-12ab --format markdown"))
    .action(bind<ShowOptions>((context, [id = "", checkpoint = ""], { format }) => show(context, { id, checkpoint, format })));
};

function list(context: CommandContext): Promise<ExitCode> {
  const { print, json } = context;
  return withReader(context, async (reader) => {
    const pending = await reader.pending();
    for (const view of pending) {
      if (json) print.row({ ...view, cursor: `${view.sessionId}/${view.checkpoint}` });
      else for (const line of block(view, context)) print.line(line);
    }
    if (!json && pending.length === 0) print.note("Nothing waits for a decision.");
    return exitCodes.done;
  });
}

function block(view: CheckpointView, { print: { paint } }: CommandContext): string[] {
  const { sessionId, checkpoint, trigger, action, since, expires, requestedBy, standing, decision } = plain(view);
  const until = expires === null ? "" : `, expires ${expires}`;
  const stands = standing === "pending" ? paint("yellow", "pending") : `${standing}${decision === null ? "" : ` (${decision})`}`;
  return [
    `${paint("bold", sessionId)}  ${paint("cyan", checkpoint)}  ${stands}`, `  ${trigger}, asked for by ${requestedBy}, since ${since}${until}`,
    `  ${JSON.stringify(action)}`,
  ];
}

interface Showing { readonly id: string; readonly checkpoint: string; readonly format: string }
function show(context: CommandContext, { id, checkpoint, format }: Showing): Promise<ExitCode> {
  if (format !== "text" && format !== "markdown") throw new UsageError(`--format takes text or markdown, not "${format}".`);
  const { print, json } = context;
  return withReader(context, async (reader) => {
    const { view, markdown } = await reader.checkpoint(id, checkpoint);
    if (json) print.json({ ...view, ...(format === "markdown" && { markdown }) });
    else if (format === "markdown") print.line(markdown.trimEnd());
    else {
      for (const line of block(view, context)) print.line(line);
      print.line(`  digest ${view.digest}`);
      if (view.standing === "pending") print.line(`  ${print.paint("cyan", context.hint(`loopledger approve ${quoted(id)} ${quoted(checkpoint)}`))}  or reject, retry, modify, pause`);
    }
    return exitCodes.done;
  });
}
