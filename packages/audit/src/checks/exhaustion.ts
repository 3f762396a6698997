/** B4: what begins in a cycle after cost or tokens are spent to the last. What was reserved before is in flight and may settle. */
import type { Findings } from "../report.ts";
import { recordIn, type Step, type Watch } from "../trail.ts";

export class ExhaustionWatch implements Watch {
  readonly #findings: Findings;

  constructor(findings: Findings) {
    this.#findings = findings;
  }
  before({ session, read, own, outcome }: Step): void {
    const record = recordIn(read);
    if (outcome !== "accepted" || own.kind !== "accepted" || !record || !session.purse.isSpent) return;
    const at = { sessionId: session.id, partition: read.entry.partition, offset: read.entry.offset };
    if (record.type === "tool_requested") this.#findings.add("B4", at, `${record.data.key} is asked for although the budget is used up`);
    if (record.type !== "model") return;
    const { reservation } = record.data.usage;
    if (reservation === undefined || !session.purse.hasReserved(reservation)) this.#findings.add("B4", at, "a model is called although the budget is used up");
  }
}
