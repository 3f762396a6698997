/** A ledger that is gone for good: nothing that is waited for can come any more, so who serves it leaves with what happened. */
import { isLoopledgerError } from "@loopledger/shared/core/errors";
import type { Engine } from "@loopledger/shared/runtime";

const lookMs = 1_000;

/** Throws where the ledger is gone for good, a deleted folder say; one that cannot be reached now is none of it. */
export async function refuseLostLedger({ ledger }: Pick<Engine, "ledger">): Promise<void> {
  await ledger.end().catch((error: unknown) => {
    // One that this process has closed itself is not lost: it is about to leave.
    if (isLoopledgerError(error) && error.then === "stop" && error.code !== "ledger_closed") throw error;
  });
}

/** Ends only by an error: where the ledger is gone for good. Looked at about once a second. */
export async function untilLedgerIsLost(engine: Pick<Engine, "ledger" | "clock">): Promise<never> {
  for (;;) {
    await refuseLostLedger(engine);
    await new Promise<void>((resolve) => { engine.clock.after(lookMs, resolve); });
  }
}
