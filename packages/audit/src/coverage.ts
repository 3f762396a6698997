/** What a run has shown: a judge that saw no contested claim proves nothing about claims. */
import { standing } from "./fold/view.ts";
import type { AuditInputs } from "./inputs.ts";
import type { CoverageLine } from "./report.ts";
import { type Step, type Watch, recordIn } from "./trail.ts";

const names = {
  contested_claim: "a claim lost against another one of the same epoch",
  stale_write: "a record was void(stale_epoch)",
  duplicate: "a record was void(duplicate)",
  suppressed_dispatch: "a second dispatch of one cause was void",
  settled_happened: "an unknown effect was settled as happened",
  settled_did_not_happen: "an unknown effect was settled as not happened",
  half_void_batch: "a record was void together with the one that called for it",
  void_then_accepted: "a record counted whose id had been void before",
  self_reclaim: "an owner claimed the next epoch itself",
  receipt_by_another: "the receipt came apart from its check",
  fenced_call: "a fencing target refused a call of a lower epoch",
  refused_approval: "an answer to a checkpoint was void",
  budget_stop: "a session waited for budget",
  view_rebuilt: "a view was rebuilt from zero",
} as const;
export type CoverageName = keyof typeof names;

export class Coverage implements Watch {
  readonly #counts = new Map<CoverageName, number>();
  #previous: { readonly sessionId: string; readonly eventId: string; readonly isVoid: boolean; readonly time: number } | null = null;
  #ownerBefore: string | null = null;

  see(name: CoverageName, times = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + times);
  }
  before({ session }: Step): void {
    this.#ownerBefore = session.owner?.id ?? null;
  }
  after(step: Step): void {
    const record = recordIn(step.read);
    if (step.reason === "stale_epoch") this.see("stale_write");
    if (step.reason === "duplicate") this.see("duplicate");
    if (record && step.outcome === "void") this.#refused(step, record);
    if (record && step.outcome === "accepted") this.#accepted(step, record);
    this.#previous = record && { sessionId: step.session.id, eventId: record.eventId, isVoid: step.outcome === "void", time: step.read.entry.time };
  }

  #refused({ session, reason }: Step, record: NonNullable<ReturnType<typeof recordIn>>): void {
    const cause = record.cause?.eventId ?? "";
    if (record.type === "claimed" && (reason === "rival" || reason === "stale_epoch")) this.see("contested_claim");
    if (record.type === "dispatched" && session.dispatchedFor.has(cause)) this.see("suppressed_dispatch");
    if (record.type === "approval_decided") this.see("refused_approval");
    const before = this.#previous;
    if (before?.isVoid && before.sessionId === session.id && before.eventId === cause) this.see("half_void_batch");
  }
  #accepted({ session, read }: Step, record: NonNullable<ReturnType<typeof recordIn>>): void {
    if (session.refused.has(record.eventId)) this.see("void_then_accepted");
    if (record.type === "reconciled") this.see(record.data.outcome === "happened" ? "settled_happened" : "settled_did_not_happen");
    if (record.type === "claimed" && record.ownerId === this.#ownerBefore) this.see("self_reclaim");
    if (record.type === "receipt") {
      const together = this.#previous?.eventId === record.cause?.eventId && this.#previous?.time === read.entry.time;
      if (!together) this.see("receipt_by_another");
    }
    if (!session.open && standing(session).reason === "budget_exhausted") this.see("budget_stop");
  }

  lines(inputs: AuditInputs): CoverageLine[] {
    this.see("fenced_call", refusedCalls(inputs));
    this.see("view_rebuilt", (inputs.views ?? []).filter((row) => row.kind === "rebuilt").length);
    const seen = Object.entries(names).map(([name, what]) => ({ name, what, count: this.#counts.get(name as CoverageName) ?? 0 }));
    const faults = (inputs.faults ?? []).map(({ name, fired }) => ({ name: `fault ${name}`, what: "the injected fault really happened", count: fired ? 1 : 0 }));
    return [...seen, ...faults];
  }
}

/** Calls that the target says that it refused, or that came under a lower epoch than it had been looked at with and applied nothing. */
function refusedCalls({ effects = [] }: AuditInputs): number {
  return effects.filter((row) => row.kind === "refused").length;
}
