/** `audit`: judges a ledger from outside, from what was written down, by rules of its own. Leaves with 0, 1, 2 or 3. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { AuditInputs, AuditOptions, Report } from "@loopledger/audit";
import { isLedgerKey } from "@loopledger/shared/core/placement";
import { type Register, example } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { CliError } from "../errors.ts";
import type { ExitCode } from "../exit-codes.ts";
import { counted } from "../story/telling.ts";
import { type Source, withSource } from "../reading/source.ts";

interface Options {
  readonly dump?: string;
  readonly verdicts?: string;
  readonly effects?: string;
  readonly acks?: string;
  readonly views?: string;
  readonly clients?: string;
  readonly logs?: readonly string[];
  readonly deadLetters?: string;
  readonly faults?: string;
  readonly expected?: string;
  readonly blobs?: string;
  readonly schemas?: string;
  readonly requireCoverage?: boolean;
  readonly coverage?: boolean;
  readonly within?: string;
  readonly ended?: string;
}
const badInputCode = 3;

export const register: Register = (program, bind) => {
  program.command("audit")
    .description("Folds the ledger anew by rules of its own and says what does not hold: 0 clean, 1 a violation, 2 not enough coverage, 3 bad input.")
    .option("--dump <file>", "rows of `ledger dump`; left out: the ledger of the data folder, with the verdicts of this release")
    .option("--verdicts <file>", "rows of `ledger dump --verdicts`: what a reader made of each entry")
    .option("--effects <file>", "the target's own log: { kind: call | application | lookup, tool, key, session, epoch, argsDigest, at }")
    .option("--acks <file>", "what producers were acknowledged: { eventId, partition, offset, digest? }")
    .option("--views <file>", "rows of `ls --json`, or { kind: view, sessionId, status, partition?, next? } and { kind: cursor, partition, next }")
    .option("--clients <file>", "what clients of streams were sent, in order: { client, sessionId, seq, eventId? }")
    .option("--logs <files...>", "logs of the services")
    .option("--dead-letters <file>", "rows of `dlq list --json`")
    .option("--faults <file>", "what was injected: { name, fired, at?, until? }")
    .option("--expected <file>", "what the generator of the run knows, one thing a row")
    .option("--blobs <file>", "what the blob store holds: { digest, bytes }")
    .option("--schemas <file>", "schema digests of releases: { type, typeVersion, digest, release }")
    .option("--coverage", "show the situations that were never seen too")
    .option("--require-coverage", "leave with 2 where one of the situations that prove something was never seen")
    .option("--within <ms>", "how long after the faults something may still be under way (default 60000)")
    .option("--ended <time>", "when the run was looked at last, ISO 8601 (default: the last time in the inputs)")
    .addHelpText("after", example("loopledger audit", "loopledger ledger dump > dump.ndjson && loopledger audit --dump dump.ndjson --effects effects.ndjson --json"))
    .action(bind<Options>((context, _words, options) => run(context, options)));
};

async function run(context: CommandContext, options: Options): Promise<ExitCode> {
  const { audit, exitOf } = await import("@loopledger/audit");
  const inputs = await inputsOf(context, options);
  const report = audit(inputs, settingsOf(context, options));
  const code = exitOf(report, options.requireCoverage ?? false);
  if (context.json) context.print.json({ exit: code, ...report });
  else show(context, report, { everything: options.coverage === true || options.requireCoverage === true, required: options.requireCoverage === true });
  return code;
}

function settingsOf(context: CommandContext, { within, ended }: Options): AuditOptions {
  const withinMs = within === undefined ? undefined : Number(within);
  const endedAt = ended === undefined ? undefined : Date.parse(ended);
  if (withinMs !== undefined && !(withinMs >= 0)) throw badInput(`--within ${within} is no number of milliseconds.`);
  if (endedAt !== undefined && Number.isNaN(endedAt)) throw badInput(`--ended ${ended} is no time.`);
  return {
    exists: (path) => existsSync(resolve(context.cwd, path)), ...(withinMs !== undefined && { withinMs }), ...(endedAt !== undefined && { endedAt }),
  };
}

async function inputsOf(context: CommandContext, options: Options): Promise<AuditInputs> {
  const a = await import("@loopledger/audit");
  type Schema<T> = Parameters<typeof a.readRows<T>>[1];
  const rows = async <T>(file: string | undefined, schema: Schema<T>): Promise<T[] | undefined> => {
    if (file === undefined) return undefined;
    const text = await textOf(context, file);
    try {
      return a.readRows(text, schema, file);
    } catch (error) {
      throw error instanceof a.BadInput ? badInput(`${error.message}.`) : error;
    }
  };
  const logs = await Promise.all((options.logs ?? []).map((file) => textOf(context, file)));
  const given = {
    verdicts: await rows(options.verdicts, a.verdictRow), effects: await rows(options.effects, a.effectRow), acks: await rows(options.acks, a.ackRow),
    views: await rows(options.views, a.viewsRow), clients: await rows(options.clients, a.clientRow), logs: logs.flatMap((text) => text.split("\n")),
    deadLetters: await rows(options.deadLetters, a.deadLetterRow), faults: await rows(options.faults, a.faultRow),
    expected: await rows(options.expected, a.expectedRow), blobs: await rows(options.blobs, a.blobRow), schemas: await rows(options.schemas, a.schemaRow),
  };
  const ledger = await rows(options.dump, a.dumpRow);
  if (ledger !== undefined) return { ...given, ledger };
  const own = await ownLedger(context);
  return { ...given, ledger: own.ledger, verdicts: given.verdicts ?? own.verdicts };
}

async function textOf(context: CommandContext, file: string): Promise<string> {
  const path = resolve(context.cwd, file);
  const text = await readFile(path, "utf8").catch(() => null);
  if (text === null) throw badInput(`${file} cannot be read.`);
  return text;
}

function badInput(message: string): CliError {
  return new CliError("bad_input", message, { next: "See `loopledger audit --help` for what a row of each file holds.", exitCode: badInputCode });
}

/** The ledger that the command works on, and what this release's own fold makes of it. */
async function ownLedger(context: CommandContext): Promise<Required<Pick<AuditInputs, "ledger" | "verdicts">>> {
  if (context.remote) throw badInput("An audit reads the ledger itself; a gateway does not hand it out.");
  const { dumpRow, verdictRows, wholeLedger } = await import("./ledger.ts");
  return withSource(context, async (source: Source) => {
    const ledger: unknown[] = [];
    const verdicts: unknown[] = [];
    const judge = verdictRows(source);
    for await (const entries of wholeLedger(source)) {
      for (const entry of entries) {
        ledger.push(dumpRow(entry));
        if (!isLedgerKey(entry.key)) verdicts.push(judge(entry));
      }
    }
    return { ledger, verdicts } as Required<Pick<AuditInputs, "ledger" | "verdicts">>;
  });
}

interface Shown {
  /** The situations that were never seen too. */
  readonly everything: boolean;
  /** Those situations are a failure. */
  readonly required: boolean;
}

function show({ print }: CommandContext, { violations, counts, coverage, uncovered, sessions }: Report, { everything, required }: Shown): void {
  for (const violation of violations) print.line(JSON.stringify(violation));
  const voids = Object.entries(counts.void).map(([reason, count]) => `${reason} ${count}`);
  print.line(`${counted(sessions, "session")}: ${counts.accepted} records accepted, ${counts.held} held, void: ${voids.length > 0 ? voids.join(", ") : "none"}.`);
  for (const { name, what, count } of coverage) if (everything || count > 0) print.line(`${count > 0 ? " " : "-"} ${String(count).padStart(6)}  ${name.padEnd(24)} ${what}`);
  const unseen = `${uncovered.length} of the ${counted(coverage.length, "situation")}`;
  if (!everything && uncovered.length > 0) print.note(`${unseen} that a test run looks for did not come up here, which is no fault: --coverage names them.`);
  print.note(violations.length === 0 ? "Everything that could be judged holds." : `${counted(violations.length, "violation")}.`);
  if (required && uncovered.length > 0) print.note(`${unseen} that --require-coverage asks for ${uncovered.length === 1 ? "was" : "were"} not seen (the lines with "-"): too little for a proof.`);
}
