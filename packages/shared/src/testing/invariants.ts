/**
 * What must hold after every record, whoever wrote it. The checks look at records and verdicts from outside and keep their own
 * account, so that a fold without a guard is caught.
 */
import type { LogTime } from "../core/brand.ts";
import type { LedgerRecord } from "../core/events/envelope.ts";
import { nextDerived } from "../core/session/derive.ts";
import type { FoldEntry, Verdict } from "../core/session/evolve.ts";
import { lookUp } from "../core/session/persistent-map.ts";
import type { SessionState } from "../core/session/state.ts";
import { standingOf, statusOf } from "../core/session/status.ts";
import { sha256 } from "./sha256.ts";
import type { Story } from "./story.ts";

export interface Judgement { readonly before: SessionState; readonly after: SessionState; readonly entry: FoldEntry; readonly verdict: Verdict }

export class Watch {
  readonly breaches: string[] = [];
  private readonly causes = new Set<string>();
  private digest = "";
  private accepted = 0;
  /** What the log itself says of the tenure: the last accepted claim, and the number of the owner's last accepted record. */
  private tenure: { epoch: number; ownerId: string; n: number } | null = null;
  private open: string | null = null;

  /** Looks at the last record of a story. */
  look(story: Story): this {
    const entry = story.entries.at(-1);
    if (entry) this.judge({ before: story.before, after: story.state, entry, verdict: story.verdict });
    return this;
  }

  judge(seen: Judgement): void {
    const { before, after, entry, verdict } = seen;
    if (verdict.kind === "void") this.must(untouched(before, after, "void"), "a void record changed something");
    if (verdict.kind === "held") this.must(untouched(before, after, "hold"), "a held record changed something");
    if (verdict.kind !== "accepted") return;
    this.accepted += 1;
    this.digest = sha256(this.digest + entry.text);
    this.must(after.seq === this.accepted && verdict.seq === after.seq, "seq is not dense");
    this.must(after.digest === this.digest, "the running digest does not cover the accepted records");
    const record = entry.parsed.kind === "record" ? entry.parsed.record : null;
    this.must(record !== null, "what is no record was accepted");
    if (record) this.ofRecord(record, seen);
    this.ofState(seen);
  }

  private ofRecord(record: LedgerRecord, { before, after, entry }: Judgement): void {
    const settles = record.type === "built" || record.type === "check" || record.type === "cycle_failed";
    this.must(!settles || before.unsettled.length === 0, `${record.type} over an unsettled effect`);
    if (record.type === "claimed") {
      this.must(record.epoch === (this.tenure?.epoch ?? 0) + 1, "a claim of another epoch than the next one");
      this.must(record.data.dispatch === this.open, "a claim of a dispatch that is not open");
      this.tenure = { epoch: record.epoch ?? 0, ownerId: record.ownerId ?? "", n: 0 };
    } else if (record.epoch !== undefined) this.ofOwner(record);
    if (record.type === "dispatched") this.ofDispatch(record, before);
    else if (after.open === null) this.open = null;
    if (record.type === "reconciled" && record.data.outcome === "did_not_happen") this.ofConclusion(record, before, entry.time);
    if (record.type === "timer_fired") {
      const timer = before.timers.find((one) => one.armedBy === record.data.timer);
      this.must(timer !== undefined && timer.dueAt <= entry.time, "a timer fired that was not armed or not due");
    }
  }
  private ofOwner(record: LedgerRecord): void {
    const { tenure } = this;
    this.must(record.epoch === tenure?.epoch && record.ownerId === tenure?.ownerId, "a stale or foreign write was accepted");
    this.must(tenure === null || record.n === tenure.n + 1, "an owner's records are not dense");
    this.must(record.cause?.eventId === this.open, "an owner record of a dispatch that is not open");
    if (tenure) tenure.n = record.n ?? 0;
  }
  private ofDispatch(record: LedgerRecord & { type: "dispatched" }, before: SessionState): void {
    this.must(this.open === null, "two open dispatches");
    this.must(!this.causes.has(record.cause?.eventId ?? ""), "two dispatches for a cause");
    this.must(before.pending.length === 0 && !before.pause && !before.cancel && !before.end, "a dispatch while the session was suspended");
    this.causes.add(record.cause?.eventId ?? "");
    this.open = record.eventId;
  }
  private ofConclusion(record: LedgerRecord & { type: "reconciled" }, before: SessionState, time: LogTime): void {
    const effect = lookUp(before.effects, record.data.key);
    const from = Math.max(effect?.intentAt ?? 0, before.lastClaimAt ?? 0);
    const over = time > from + (effect?.callWindowSeconds ?? 0) * 1000;
    this.must(record.data.epoch === before.epoch, "a conclusion from an older look");
    this.must(over || ((effect?.fences ?? false) && effect?.contract !== "idempotent" && before.epoch > (effect?.epoch ?? 0)), "a conclusion without a fence before the window was over");
  }

  private ofState({ before, after }: Judgement): void {
    const unknown = after.end?.reason === "incomplete_tool_turn";
    this.must(!after.end || unknown || after.unsettled.length === 0, `an end over an unsettled effect: ${after.end?.disposition}`);
    this.must(!before.end || before.end.disposition !== "done" || after.end === before.end, "an end that is over changed");
    this.must(!after.end || unknown || (after.open === null && after.owed === null && after.timers.length === 0), "an end left something owed, open or armed");
    const { iterations, costUsd } = statusOf(after).budget;
    this.must(iterations.limit === null || iterations.spent + iterations.reserved <= iterations.limit, "more iterations than the budget allows");
    this.must(costUsd.reserved >= 0 && costUsd.spent >= 0, "a negative budget");
    this.must(after.unsettled.every((key) => lookUp(after.effects, key)?.settled === null), "an unsettled key that is settled");
    this.must(after.end !== null || namesItsWait(after), "the session stands still and waits for nothing");
    this.must(!after.open || !after.owed, "something is owed beside an open dispatch");
  }

  private must(holds: boolean, what: string): void {
    if (!holds) this.breaches.push(what);
  }
}

/** Somebody can go on: a dispatch is open, something may be written, or a named thing is waited for. */
function namesItsWait(state: SessionState): boolean {
  return state.open !== null || nextDerived(state) !== null || state.timers.length > 0 || standingOf(state).disposition === "waiting";
}
/** Every other member is the very same one. */
function untouched(before: SessionState, after: SessionState, but: keyof SessionState): boolean {
  return (Object.keys(before) as (keyof SessionState)[]).every((name) => name === but || after[name] === before[name]);
}
