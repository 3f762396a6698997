/**
 * Given, when, then for the fold: a log of one session that grows record by record, each judged as it is appended.
 *
 * T1. `given` takes only what is accepted; a story that starts from a refused record is a wrong story.
 * T2. A void record changes nothing but the void counts, and a record that holds changes nothing but the hold: every `then` sees to it.
 */
import assert from "node:assert/strict";
import type { LogTime, Offset, SessionId } from "../core/brand.ts";
import type { LedgerRecord } from "../core/events/envelope.ts";
import { canonicalJson } from "../core/json.ts";
import { type Evolve, type FoldEntry, type Verdict, evolve } from "../core/session/evolve.ts";
import { type SessionState, type VoidReason, emptySession } from "../core/session/state.ts";
import { type StatusView, statusOf } from "../core/session/status.ts";
import { type Place, entryOf, entryOfText, testSession } from "./records.ts";
import { wordFor } from "./folds.ts";
import { sha256 } from "./sha256.ts";
import { type StepClock, stepClock } from "./step-clock.ts";

/** A record that depends on what the story has come to, or one that does not. */
export type Act = LedgerRecord | ((story: Story) => LedgerRecord);

/** The record that an act would append now: written by somebody who then is slow, or dies. */
export function written(story: Story, act: Act): LedgerRecord {
  return typeof act === "function" ? act(story) : act;
}

export class Story {
  readonly clock: StepClock = stepClock();
  readonly entries: FoldEntry[] = [];
  readonly verdicts: Verdict[] = [];
  state: SessionState;
  /** The state before the last record. */
  before: SessionState;
  private readonly fold: Evolve;

  constructor(options: { fold?: Evolve; sessionId?: SessionId } = {}) {
    this.fold = options.fold ?? evolve;
    this.state = emptySession(options.sessionId ?? testSession);
    this.before = this.state;
  }

  get status(): StatusView {
    return statusOf(this.state);
  }
  get verdict(): Verdict {
    const last = this.verdicts.at(-1);
    assert(last, "nothing was appended yet");
    return last;
  }
  /** The verdicts so far, in words. */
  get words(): string[] {
    return this.verdicts.map(wordFor);
  }

  /** Appends and judges; the place names what the log would say of the entry. */
  append(act: Act, place: Place = {}): this {
    return this.appendEntry(entryOf(written(this, act), this.placed(place)));
  }
  appendText(text: string, place: Place = {}): this {
    return this.appendEntry(entryOfText(text, this.placed(place)));
  }
  /** The same bytes once more, as a sender does that got no answer. */
  repeat(): this {
    const last = this.entries.at(-1);
    assert(last, "nothing was appended yet");
    return this.appendEntry({ ...last, ...this.placed({}) });
  }
  private placed(place: Place): Required<Pick<FoldEntry, "time" | "offset">> & Place {
    return { time: this.clock.next(), offset: this.entries.length as Offset, ...place };
  }
  private appendEntry(entry: FoldEntry): this {
    const step = this.fold(this.state, entry, sha256);
    this.before = this.state;
    this.state = step.state;
    this.entries.push(entry);
    this.verdicts.push(step.verdict);
    return this;
  }

  given(...acts: Act[]): this {
    for (const act of acts) this.when(act).thenAccepted();
    return this;
  }
  when(act: Act, place: Place = {}): this {
    return this.append(act, place);
  }
  wait(ms: number): this {
    this.clock.wait(ms);
    return this;
  }
  /** Moves to the instant before the next record is stamped with this time. */
  until(time: LogTime): this {
    this.clock.wait(time - this.clock.now() - 10);
    return this;
  }

  thenAccepted(): this {
    assert.equal(wordFor(this.verdict), "accepted", this.last());
    assert.equal(this.state.seq, this.before.seq + 1, "seq is dense");
    return this;
  }
  thenVoid(reason: VoidReason): this {
    assert.equal(wordFor(this.verdict), `void(${reason})`, this.last());
    const counted = { ...this.before.void, [reason]: (this.before.void[reason] ?? 0) + 1 };
    assert.equal(canonicalJson(this.state), canonicalJson({ ...this.before, void: counted }), "a void record changed something");
    return this;
  }
  thenHeld(): this {
    assert.equal(this.verdict.kind, "held", this.last());
    assert.equal(canonicalJson({ ...this.state, hold: null }), canonicalJson({ ...this.before, hold: null }), "a held record changed something");
    return this;
  }
  private last(): string {
    const text = this.entries.at(-1)?.text ?? "";
    return `record ${this.entries.length}: ${text.slice(0, 400)}`;
  }
}
