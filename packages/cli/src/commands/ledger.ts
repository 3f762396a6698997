/** `ledger dump`: the entries as the log holds them, accepted or not, for the audit and for keeping. */
import type { Offset, SessionId } from "@loopledger/shared/core/brand";
import type { LogEntry } from "@loopledger/shared/ports";
import { type Register, example } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { UsageError } from "../errors.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { type Source, withSource } from "../reading/source.ts";

interface Options { readonly session?: string }

export const register: Register = (program, bind) => {
  const ledger = program.command("ledger").description("the ledger itself").addHelpText("after", example("loopledger ledger dump > dump.ndjson"));
  ledger.command("dump").description("all entries in log order, one JSON row each: partition, offset, time, key, headers, value")
    .option("--session <id>", "of this session only").addHelpText("after", example("loopledger ledger dump > dump.ndjson && loopledger audit --dump dump.ndjson"))
    .action(bind<Options>((context, _words, { session }) => dump(context, session)));
};

const chunkSize = 1_000;

function dump(context: CommandContext, session: string | undefined): Promise<ExitCode> {
  if (context.remote) throw new UsageError("ledger dump reads the ledger itself; a gateway does not hand it out.", { next: "Leave --url and LOOPLEDGER_URL out." });
  return withSource(context, async (source) => {
    const { LocalReader } = await import("../reading/local-reader.ts");
    if (session !== undefined) await new LocalReader(source, context.dataFolder).status(session);
    for await (const entries of session === undefined ? wholeLedger(source) : [await source.ledger.readSession(session as SessionId)]) {
      for (const entry of entries) context.print.row(dumpRow(entry));
    }
    return exitCodes.done;
  });
}

async function* wholeLedger({ ledger }: Source): AsyncGenerator<readonly LogEntry[]> {
  for (let partition = 0; partition < ledger.partitions; partition++) {
    for (let from = 0 as Offset; ; ) {
      const entries = await ledger.read(partition, from, chunkSize);
      yield entries;
      const last = entries.at(-1);
      if (!last || entries.length < chunkSize) break;
      from = (last.offset + 1) as Offset;
    }
  }
}

/** The headers are those that the record has on a topic; a value that is no JSON is shown as the text that it is. */
export function dumpRow({ partition, offset, time, key, value }: LogEntry): { readonly cursor: string } & Readonly<Record<string, unknown>> {
  const envelope = envelopeOf(value);
  const header = (name: string): string | null => (typeof envelope?.[name] === "string" ? envelope[name] : null);
  const [type, ledgerId] = [header("type"), header("ledgerId")];
  const headers = { ...(type !== null && { type }), ...(ledgerId !== null && { "ledger-id": ledgerId }) };
  return { partition, offset, time, key, headers, value: envelope ?? value, cursor: `${partition}:${offset}` };
}

function envelopeOf(value: string | null): Readonly<Record<string, unknown>> | null {
  if (value === null) return null;
  try {
    const read: unknown = JSON.parse(value);
    return read !== null && typeof read === "object" && !Array.isArray(read) ? (read as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
