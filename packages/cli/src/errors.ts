/** What went wrong, as a sentence with what to do next and an exit code; with `--json` as one JSON document on stderr. */
import { Refusal as CliError, UsageError } from "@loopledger/composition/refusals";

export { CliError, UsageError };
export { type Described, describeError, errorText } from "@loopledger/composition/described";

/** There is no such session on this ledger. Exit code 2. */
export function unknownSession(sessionId: string, where: string): CliError {
  return new CliError("unknown_session", `There is no session ${sessionId} on ${where}.`, {
    next: "`loopledger ls` shows the sessions; --data or LOOPLEDGER_DATA names another data folder, on Kafka LOOPLEDGER_TOPIC_PREFIX other topics.",
  });
}
