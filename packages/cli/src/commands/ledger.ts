/** `ledger dump`: the entries as the log holds them, accepted or not, or the verdicts of this release on them; for the audit and for keeping. */
import type { Offset, SessionId } from "@loopledger/shared/core/brand";
import { isLedgerKey } from "@loopledger/shared/core/placement";
import type { Verdict } from "@loopledger/shared/core/session/evolve";
import type { LogEntry } from "@loopledger/shared/ports";
import { readStretch } from "@loopledger/shared/runtime/partition";
import { type Register, example } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { UsageError } from "../errors.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { SessionFold } from "../reading/folding.ts";
import { hasLedger, refuseNoFolder } from "@loopledger/composition/ports/data-folder";
import { type Source, withSource } from "../reading/source.ts";

interface Options { readonly session?: string; readonly verdicts?: boolean }

export const register: Register = (program, bind) => {
  const ledger = program.command("ledger").description("the ledger itself").addHelpText("after", example("loopledger ledger dump > dump.ndjson"));
  ledger.command("dump").description("all entries in log order, one JSON row each: partition, offset, time, key, headers, value")
    .option("--session <id>", "of this session only")
    .option("--verdicts", "what this release makes of each entry, in place of the entry: partition, offset, verdict, reason, seq")
    .addHelpText("after", example("loopledger ledger dump > dump.ndjson && loopledger audit --dump dump.ndjson", "loopledger ledger dump --verdicts > verdicts.ndjson"))
    .action(bind<Options>((context, _words, options) => dump(context, options)));
};

function dump(context: CommandContext, { session, verdicts = false }: Options): Promise<ExitCode> {
  if (context.remote) throw new UsageError("ledger dump reads the ledger itself; a gateway does not hand it out.", { next: "Leave --url and LOOPLEDGER_URL out." });
  if (context.environment.kafkaBrokers === null) refuseNoFolder(context.dataFolder);
  if (context.environment.kafkaBrokers === null && session === undefined && !hasLedger(context.dataFolder)) {
    context.print.note(`There is no ledger in ${context.dataFolder}: nothing is dumped. --data names another data folder.`);
    return Promise.resolve(exitCodes.done);
  }
  return withSource(context, async (source) => {
    const { LocalReader } = await import("../reading/local-reader.ts");
    if (session !== undefined) await new LocalReader(source, context.where).status(session);
    const rowOf = verdicts ? verdictRows(source) : dumpRow;
    for await (const entries of session === undefined ? wholeLedger(source) : [await source.ledger.readSession(session as SessionId)]) {
      for (const entry of entries) context.print.row(rowOf(entry));
    }
    return exitCodes.done;
  });
}

export async function* wholeLedger({ ledger }: Source): AsyncGenerator<readonly LogEntry[]> {
  for (let partition = 0; partition < ledger.partitions; partition++) {
    yield* readStretch(ledger, { partition, from: 0 as Offset });
  }
}

/**
 * The headers are those that the record has on a topic; a value that is no JSON is shown as the text that it is. `text` stands beside
 * a value that, written anew, would be other bytes.
 */
export function dumpRow({ partition, offset, time, key, value }: LogEntry): { readonly cursor: string } & Readonly<Record<string, unknown>> {
  const envelope = envelopeOf(value);
  const header = (name: string): string | null => (typeof envelope?.[name] === "string" ? envelope[name] : null);
  const [type, ledgerId] = [header("type"), header("ledgerId")];
  const headers = { ...(type !== null && { type }), ...(ledgerId !== null && { "ledger-id": ledgerId }) };
  const cursor = `${partition}:${offset}`;
  const whole = envelope !== null && JSON.stringify(envelope) !== value;
  return { partition, offset, time, key, headers, value: envelope ?? value, ...(whole && { text: value }), cursor };
}

/**
 * What the fold of this release makes of entries that are handed in partition by partition, in any order of these; the ledger's own entries
 * are no session's. What lies elsewhere than its key belongs is void: whoever reads the session never comes across it.
 */
export function verdictRows({ ids, ledger }: { readonly ids: Source["ids"]; readonly ledger: Pick<Source["ledger"], "partitionOf"> }): (entry: LogEntry) => { readonly cursor: string } & Readonly<Record<string, unknown>> {
  const folds = new Map<string, SessionFold>();
  return (entry) => {
    const { partition, offset, key } = entry;
    const fold = folds.get(key) ?? new SessionFold(key as SessionId, ids);
    folds.set(key, fold);
    const isHome = isLedgerKey(key) || ledger.partitionOf(key) === partition;
    const verdict: Verdict = isHome ? fold.take(entry).verdict : { kind: "void", reason: "malformed" };
    return {
      partition, offset, verdict: verdict.kind, reason: verdict.kind === "void" ? verdict.reason : null, seq: verdict.kind === "accepted" ? verdict.seq : null,
      cursor: `${partition}:${offset}`,
    };
  };
}

/** Null where it is no object, or nested so deeply that it could not be written out again: then it is shown as the text that it is. */
function envelopeOf(value: string | null): Readonly<Record<string, unknown>> | null {
  if (value === null) return null;
  try {
    const read: unknown = JSON.parse(value);
    JSON.stringify({ row: { read } });
    return read !== null && typeof read === "object" && !Array.isArray(read) ? (read as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
