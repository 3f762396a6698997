/** An agent with a shell decides nothing about its own work: what only a person may do is refused inside a maker or check. */
import type { CommandContext } from "../context.ts";
import { CliError } from "../errors.ts";
import { exitCodes } from "../exit-codes.ts";

export function refuseAgents({ environment }: CommandContext, what: string): void {
  if (environment.stepToken === null) return;
  throw new CliError("forbidden", `${what} is a person's to do, and LOOPLEDGER_STEP_TOKEN says that this runs inside a maker or check.`, {
    next: "Leave it to a person outside of this run.", exitCode: exitCodes.failed,
  });
}
