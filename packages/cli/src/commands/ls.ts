/** `ls`: the sessions of the ledger, newest first. */
import { disposition as dispositions } from "@loopledger/shared/core/events/fields";
import { quoted } from "@loopledger/shared/core/shell-word";
import { type Register, example } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { UsageError } from "../errors.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { hasLedger } from "@loopledger/composition/ports/data-folder";
import { wholeNumber } from "../reading/flags.ts";
import { withReader } from "../reading/open-reader.ts";
import type { ListRow } from "../reading/reader.ts";
import { listLine } from "../reading/status-text.ts";

interface Options { readonly disposition?: string; readonly label?: string; readonly limit?: string; readonly cursor?: string }

export const register: Register = (program, bind) => {
  program.command("ls").description("the sessions, newest first")
    .option("--disposition <d>", "only these: running, waiting, done, handed_off, failed, cancelled")
    .option("--label <name=value>", "only those with this label")
    .option("--limit <n>", "at most n").option("--cursor <c>", "go on behind the row with this cursor")
    .addHelpText("after", example("loopledger ls", "loopledger ls --json --disposition waiting --limit 20"))
    .action(bind<Options>((context, _words, options) => list(context, options)));
};

function list(context: CommandContext, options: Options): Promise<ExitCode> {
  const { disposition, label, cursor } = options;
  if (disposition !== undefined && !(dispositions.options as readonly string[]).includes(disposition)) {
    throw new UsageError(`--disposition takes ${dispositions.options.join(", ")}, not "${disposition}".`);
  }
  if (label !== undefined && !/^[^=]+=/.test(label)) {
    const name = label.replace(/=.*$/s, "") || "NAME";
    throw new UsageError(`--label takes name=value, not "${label}".`, { next: `\`loopledger ls --label ${quoted(`${name}=VALUE`)}\` shows those whose label ${name} is VALUE; \`loopledger ls --json\` shows every label.` });
  }
  const limit = options.limit === undefined ? null : wholeNumber(options.limit, { flag: "--limit", least: 1 });
  return withReader(context, async (reader) => {
    const rows = reader.list({ disposition, label, limit, cursor });
    if (context.json) for await (const row of rows) context.print.row({ ...row.view, cursor: row.cursor });
    else await printTable(context, rows, { limit, filtered: disposition !== undefined || label !== undefined || cursor !== undefined });
    return exitCodes.done;
  });
}

interface Asked { readonly limit: number | null; readonly filtered: boolean }

async function printTable(context: CommandContext, rows: AsyncIterable<ListRow>, { limit, filtered }: Asked): Promise<void> {
  const { print } = context;
  const all: ListRow[] = [];
  for await (const row of rows) all.push(row);
  const width = all.reduce((most, { view }) => Math.max(most, Math.min(view.sessionId.length, 48)), 8);
  for (const { view } of all) print.line(listLine(view, width, print.paint));
  const last = all.at(-1);
  if (!last) print.note(filtered ? "None of the sessions is like that." : nothingText(context));
  else if (limit !== null && all.length === limit) print.note(`More may follow: --cursor '${last.cursor}'`);
}

/** Where was looked, so that a wrong folder is seen as one. */
function nothingText({ remote, environment, dataFolder, where: place, hint }: CommandContext): string {
  const where = remote?.url ?? place;
  const absent = remote === null && environment.kafkaBrokers === null && !hasLedger(dataFolder);
  const elsewhere = remote !== null ? "--url names another gateway"
    : environment.kafkaBrokers === null ? "--data names another data folder"
    : "LOOPLEDGER_TOPIC_PREFIX names other topics, LOOPLEDGER_KAFKA_BROKERS another Kafka";
  const begins = hint(`\`loopledger run --help\` says how one is begun; ${elsewhere}.`);
  return absent ? `There are no sessions in ${where}: there is no ledger. ${begins}` : `There are no sessions on ${where}. ${begins}`;
}
