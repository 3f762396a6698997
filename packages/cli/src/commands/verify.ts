/** `verify ID`: executes the receipt's check again against the current state. 0 it holds, 1 it does not, 2 there is no receipt. */
import type { RecordOf } from "@loopledger/shared/core/events/envelope";
import type { SessionState } from "@loopledger/shared/core/session/state";
import type { Check } from "@loopledger/shared/ports";
import { type OpenSession, withSession } from "../acts/act.ts";
import { type Register, example } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { CliError, UsageError } from "../errors.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { checkHandlers } from "../verifying/check-handlers.ts";
import type { Verification } from "../verifying/verification.ts";

export const register: Register = (program, bind) => {
  program.command("verify <id>").description("runs the receipt's check again: does it still hold?")
    .addHelpText("after", example("loopledger verify fix-login && echo 'still done'"))
    .action(bind((context, [id = ""]) => verifySession(context, id)));
};

async function verifySession(context: CommandContext, id: string): Promise<ExitCode> {
  if (context.remote) throw new UsageError("verify runs the check on this machine; a gateway does not hand its workspace out.", { next: "Type it where the session's workspace is, without --url." });
  const verification = await withSession(context, id, (session) => verifyHere(context, session));
  if (context.json) context.print.json(verification);
  else for (const line of linesOf(context, verification)) context.print.line(line);
  return verification.holds ? exitCodes.done : exitCodes.failed;
}

function linesOf({ print: { paint }, hint }: CommandContext, { holds, reason, detail, next }: Verification): string[] {
  if (holds) return [`${paint("green", "holds")}  ${detail}`];
  return [`${paint("red", `does not hold: ${reason}`)}  ${detail}`, ...(next === null ? [] : [`  ${hint(next)}`])];
}

async function verifyHere(context: CommandContext, session: OpenSession): Promise<Verification> {
  const { engine, sessionId } = session;
  const state = await session.state();
  const { receipt } = state;
  if (!receipt) throw noReceipt(state);
  const check = (await checkHandlers(context, engine, state)).check(receipt.check.name);
  if (!check) throw noCheck(receipt.check.name, sessionId);
  const final = await finalCheck(session, receipt.finalCheckSeq);
  const [{ verify }, { checkInput }] = await Promise.all([import("../verifying/verification.ts"), import("@loopledger/checker/checker")]);
  return verify({
    state, receipt, final, check: check as Check, blobs: engine.blobs, live: (chunk) => context.print.raw(chunk),
    input: checkInput(state, { iteration: state.lastCheck?.iteration ?? state.iteration, leaf: "goal" } as never),
  }).finally(() => engine.folds.forget(sessionId));
}

/** The record of the check that the receipt rests on. */
async function finalCheck({ engine, sessionId }: OpenSession, seq: number): Promise<RecordOf<"check">> {
  const { RowMaker } = await import("../reading/event-rows.ts");
  const rows = new RowMaker(sessionId, engine.ids);
  for (const entry of await engine.ledger.readSession(sessionId)) {
    const row = rows.take(entry);
    if (row.kind === "accepted" && row.seq === seq && row.record.type === "check") return row.record;
  }
  throw new CliError("ledger_lost", `The ledger has no check at seq ${seq} any more.`, { next: "Restore the ledger from a copy that has it.", exitCode: exitCodes.unreachable });
}

function noReceipt(state: SessionState): UsageError {
  const why = state.end?.reason === "no_mutation_owed" ? "The check was green before any work, so there is none for work." : "It is not done.";
  return new UsageError(`The session ${state.sessionId} has no receipt. ${why}`, { code: "no_receipt", next: `\`loopledger explain ${state.sessionId}\` shows how it stands.` });
}
function noCheck(name: string, sessionId: string): UsageError {
  return new UsageError(`No config here has the check ${name}.`, {
    code: "handler_missing", next: `Name the config that has it: \`loopledger verify ${sessionId} --config FILE\`, where FILE is the project's loopledger.config.ts. Or type it in the project's folder.`,
  });
}
