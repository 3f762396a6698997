/** `dlq`: records of the goals topic that could not be taken in. They are listed, shown with their bytes, and put back. */
import { sessionIdPattern, sessionIdRule } from "@loopledger/shared/core/session-id";
import type { DeadLetterRow } from "@loopledger/shared/ports";
import type { ShownBytes, ShownLetter } from "@loopledger/shared/runtime";
import { type Register, example } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { UsageError } from "../errors.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { readGoalBytes } from "../goal-file.ts";
import { withLetters } from "../letters/open-letters.ts";
import { wholeNumber } from "../reading/flags.ts";
import { plain } from "../reading/plain.ts";

interface ListOptions { readonly limit?: string; readonly cursor?: string }
interface ReplayOptions { readonly file?: string; readonly key?: string | false }

export const register: Register = (program, bind) => {
  const dlq = program.command("dlq").description("records of the goals topic that could not be taken in")
    .addHelpText("after", example("loopledger dlq list --json", "loopledger dlq show loopledger.goals-3-17", "loopledger dlq replay loopledger.goals-3-17 --file mended.json"));
  dlq.command("list").description("those that there are, newest first; those that were put back are marked")
    .option("--limit <n>", "at most n").option("--cursor <c>", "go on behind the row with this cursor")
    .addHelpText("after", example("loopledger dlq list", "loopledger dlq list --json --limit 20"))
    .action(bind<ListOptions>((context, _words, options) => list(context, options)));
  dlq.command("show <id>").description("one of them, with its original bytes: as text where they are text, and in base64")
    .addHelpText("after", example("loopledger dlq show loopledger.goals-3-17 --json"))
    .action(bind((context, [id = ""]) => show(context, id)));
  dlq.command("replay <id>").description("puts the original on the goals topic again, or a mended one")
    .option("--file <file>", "this goal in place of the original; `-` is standard input")
    .option("--key <session>", "this key in place of the original's").option("--no-key", "no key in place of the original's")
    .addHelpText("after", example("loopledger dlq replay loopledger.goals-3-17", "loopledger dlq replay loopledger.goals-3-17 --file mended.json --key fix-login"))
    .action(bind<ReplayOptions>((context, [id = ""], options) => replay(context, id, options)));
};

const pageMax = 500;

function list(context: CommandContext, { limit, cursor }: ListOptions): Promise<ExitCode> {
  const { print, json } = context;
  let left = limit === undefined ? Number.POSITIVE_INFINITY : wholeNumber(limit, { flag: "--limit", least: 1 });
  return withLetters(context, async (letters) => {
    let told = 0;
    for (let after: string | undefined = cursor; left > 0; ) {
      const page: Awaited<ReturnType<typeof letters.page>> = await letters.page({ limit: Math.min(pageMax, left), cursor: after });
      for (const row of page.items) {
        if (json) print.row({ ...row, cursor: row.id });
        else print.line(lineOf(row, context));
      }
      told += page.items.length;
      left -= page.items.length;
      if (page.next === null) break;
      after = page.next;
      if (left <= 0 && !json) print.note(`More follow: --cursor '${page.next}'`);
    }
    if (told === 0 && !json) {
      print.note(cursor === undefined ? "There are no dead letters." : "There are no more dead letters.");
      if (!letters.hasTopic) print.note("A data folder has no goals topic: LOOPLEDGER_KAFKA_BROKERS names the Kafka whose dead letters are meant.");
    }
    return exitCodes.done;
  });
}

function lineOf(row: DeadLetterRow, { print: { paint } }: CommandContext): string {
  const { id, reason, detail, at, keyText, replayedAt } = plain<Partial<Pick<DeadLetterRow, "keyText">> & Omit<DeadLetterRow, "keyText">>(row);
  // A gateway of an earlier release does not tell it.
  const key = keyText === undefined ? [] : [keyText === null ? paint("dim", "no key") : `key ${keyText}`];
  return [paint("bold", id), paint(replayedAt === null ? "red" : "dim", reason), paint("dim", at), ...key, replayedAt === null ? detail : `put back ${replayedAt}`].join("  ");
}

function show(context: CommandContext, id: string): Promise<ExitCode> {
  return withLetters(context, async (letters) => {
    const letter = await letters.get(id);
    if (context.json) context.print.json(letter);
    else for (const line of block(letter, context)) context.print.line(line);
    return exitCodes.done;
  });
}

function block(letter: ShownLetter, { print: { paint }, hint }: CommandContext): string[] {
  const { id, reason, detail, at, source, key, value, headers, repeats = {}, replayedAt, isCut, bytes } = plain(letter);
  return [
    `${paint("bold", id)}  ${paint("red", reason)}  ${at}`, `  ${detail}`,
    `  from ${source.topic}, partition ${source.partition}, offset ${source.offset}${replayedAt === null ? "" : `; put back ${replayedAt}`}`,
    `  key      ${shown(key)}`, ...Object.entries(headers).flatMap(([name, content]) => [...(repeats[name] ?? []), content].map((one) => `  header   ${name}: ${shown(one)}`)),
    `  value    ${bytes === null ? "null" : `${bytes} bytes${isCut ? ", of which the beginning was kept" : ""}`}`, ...(value === null ? [] : [shown(value)]),
    `  ${paint("cyan", hint(`loopledger dlq replay ${id}`))}  ${mendedBy(reason)}`,
  ];
}
/** What to add where the same record would be refused again. A `foreign_key` can lie in the key or in the id that the goal has. */
function mendedBy(reason: string): string {
  switch (reason) {
    case "missing_key": case "foreign_key": return "with --key SESSION to put another key in its place, or --no-key for none; with --file for a mended goal";
    case "id_conflict": return "with --key SESSION to give it another name, where the goal has no id of its own; with --file for a mended goal";
    default: return "with --file to put a mended goal in its place";
  }
}
function shown(content: ShownBytes | null): string {
  if (content === null) return "null";
  return content.text ?? `base64 ${content.base64}`;
}

async function replay(context: CommandContext, id: string, { file, key }: ReplayOptions): Promise<ExitCode> {
  if (typeof key === "string" && !sessionIdPattern.test(key)) throw new UsageError(`"${key}" is no session id: ${sessionIdRule}`);
  const value = file === undefined ? undefined : await readGoalBytes(file);
  return withLetters(context, async (letters) => {
    const { at, topic, before = null } = await letters.replay(id, { value, key: key === false ? null : key });
    if (before !== null && !context.json) context.print.note(`It had been put back before, at ${before}: it is on the topic once more, and an equal goal under the same name is the same session.`);
    if (context.json) context.print.json({ id, replayed: true, at, topic, before });
    else context.print.line(context.hint(`${id} is on ${topic} again. \`loopledger ls\` shows its session; where it cannot be taken in either, \`loopledger dlq list\` shows why.`));
    return exitCodes.done;
  });
}
