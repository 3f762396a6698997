/** `logs ID`: what maker and check printed; with --follow also what they print now. */
import { type Register, example } from "../command.ts";
import { quoted } from "@loopledger/shared/core/shell-word";
import type { CommandContext } from "../context.ts";
import { UsageError } from "../errors.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import type { EventRow } from "../reading/event-rows.ts";
import { wholeNumber } from "../reading/flags.ts";
import { untilInterrupted } from "../reading/interruption.ts";
import { LiveTail } from "../reading/live-tail.ts";
import { type LogPart, logParts } from "../reading/logs.ts";
import { shownOutput } from "../reading/plain.ts";
import { withReader } from "../reading/open-reader.ts";

interface Options { readonly iteration?: string; readonly follow?: boolean }

export const register: Register = (program, bind) => {
  program.command("logs <id>").description("what maker and check printed")
    .option("--iteration <n>", "of this iteration only; 0 is the check before any work").option("--follow", "and what comes, until Ctrl-C")
    .addHelpText("after", example("loopledger logs fix-login --iteration 3", "loopledger logs fix-login --follow"))
    .action(bind<Options>((context, [id = ""], options) => showLogs(context, id, options)));
};

function showLogs(context: CommandContext, id: string, options: Options): Promise<ExitCode> {
  const iteration = options.iteration === undefined ? null : wholeNumber(options.iteration, { flag: "--iteration" });
  const follow = options.follow ?? false;
  return withReader(context, (reader) => untilInterrupted(async (signal) => {
    const { asOf: since, iteration: newest } = await reader.status(id);
    // Of a cycle that is to come there is nothing to show unless it is waited for.
    if (iteration !== null && iteration > newest && !follow) throw noIteration(id, iteration, newest);
    const tail = follow && !context.json && !context.remote ? new LiveTail({ dataFolder: context.dataFolder, sessionId: id, show: liveShow() }) : null;
    try {
      const rows = reader.events(id, { after: 0, refused: false, follow, signal });
      for await (const part of logParts(reader, id, watched(rows, { tail, iteration, since }))) {
        if (iteration === null || part.iteration === iteration) show(context, part, tail?.end() ?? 0);
      }
    } finally {
      tail?.close();
    }
    return exitCodes.done;
  }));
}

function noIteration(id: string, asked: number, newest: number): UsageError {
  return new UsageError(`The session ${id} has no iteration ${asked}: it has come to ${newest}.`, {
    code: "unknown_iteration", next: `--follow waits for it; \`loopledger logs ${quoted(id)}\` shows those that there are.`,
  });
}

interface Watching {
  readonly tail: LiveTail | null;
  readonly iteration: number | null;
  /** Cycles that were over before this seq are history. */
  readonly since: number;
}
const closing: ReadonlySet<string> = new Set(["built", "check", "cycle_failed", "handed_back"]);

/** The rows as they are; once they are no history any more, the tail shows what the open cycle prints. */
async function* watched(rows: AsyncIterable<EventRow>, { tail, iteration, since }: Watching): AsyncGenerator<EventRow> {
  let open: { readonly iteration: number } | null = null;
  let begun = false;
  for await (const row of rows) {
    if (row.kind === "accepted") {
      const { record } = row;
      if (record.type === "dispatched") open = record.data;
      if (closing.has(record.type)) open = null;
      if (record.type === "claimed" || open === null) begun = false;
      if (open && !begun && row.seq >= since && (iteration === null || open.iteration === iteration)) {
        tail?.begin();
        begun = true;
      }
    }
    yield row;
  }
}

/** Characters that come in two pieces are put together. */
function liveShow(): (chunk: Uint8Array) => void {
  const decoder = new TextDecoder();
  return (chunk) => void process.stdout.write(shownOutput(decoder.decode(chunk, { stream: true })));
}

/** What was shown while it was printed is not shown again. */
function show({ json, print }: CommandContext, part: LogPart, shownBytes: number): void {
  if (json) {
    print.row({ ...part, cursor: part.seq });
    return;
  }
  const leaf = part.leaf === "goal" ? "" : ` of ${part.leaf}`;
  const content = Buffer.from(part.text);
  const missing = Math.max(0, part.bytes - content.byteLength);
  const rest = content.subarray(Math.max(0, shownBytes - missing));
  const head = `── iteration ${part.iteration}${leaf}: ${part.source} ${part.by}, ${part.outcome} (seq ${part.seq}) ──`;
  if (shownBytes === 0) print.line(print.paint("dim", head));
  if (part.why !== null) print.line(print.paint("yellow", shownOutput(part.why)));
  if (missing > shownBytes) print.line(print.paint("yellow", `… ${part.bytes} bytes were printed; these are the last of them`));
  if (rest.byteLength > 0) print.line(shownOutput(rest.toString("utf8")).replace(/\n$/, ""));
  if (shownBytes > 0) print.line(print.paint("dim", head));
}
