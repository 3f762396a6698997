/**
 * What this process has appended and waits for: the verdict that the own fold gives to exactly these bytes.
 * Two who derive the same record in the same millisecond write the same text; one copy of it answers both.
 */
import { type Parsed, parseRecord } from "../core/events/parse.ts";
import type { RunningDigest, Verdict } from "../core/session/evolve.ts";
import type { Written } from "./author.ts";

/** A text that this process waits for. */
export interface Own {
  readonly text: string;
  readonly parsed: Parsed;
  /** Where the text was folded ahead, in a batch that was put together: the digest that it led to. */
  readonly running: RunningDigest | undefined;
  readonly waiters: ((verdict: Verdict) => void)[];
}

export class ReadBacks {
  /** A session waits for few texts at a time, so that comparing them costs less than hashing a text to look it up. */
  readonly #own = new Map<string, Own[]>();

  /** `settle` is called with the verdicts on texts that are about to be appended, in their order. To be called before the append. */
  expect(group: readonly Written[], settle: (verdicts: Verdict[]) => void): void {
    const verdicts: Verdict[] = [];
    let left = group.length;
    for (let at = 0; at < group.length; at++) {
      this.#ownOf(group[at] as Written).waiters.push((verdict) => {
        verdicts[at] = verdict;
        if (--left === 0) settle(verdicts);
      });
    }
  }
  #ownOf({ record, text, running }: Written): Own {
    const known = this.of(record.sessionId, text);
    if (known) return known;
    const own: Own = { text, parsed: { kind: "record", record }, running, waiters: [] };
    const ofSession = this.#own.get(record.sessionId);
    if (ofSession) ofSession.push(own);
    else this.#own.set(record.sessionId, [own]);
    return own;
  }
  /** Gives a read-back up: the append is known not to be there, or nobody waits any more. */
  abandon({ record: { sessionId }, text }: Written): void {
    const own = this.of(sessionId, text);
    own?.waiters.pop();
    if (own?.waiters.length === 0) this.#leave(sessionId, own);
  }

  /** What is known of a text that this process waits for in this session. */
  of(sessionId: string, text: string | null): Own | undefined {
    return this.#own.get(sessionId)?.find((own) => own.text === text);
  }
  /** The first copy that the fold meets answers everybody who waits for this text. */
  settle(sessionId: string, own: Own, verdict: Verdict): void {
    this.#leave(sessionId, own);
    for (const settle of own.waiters) settle(verdict);
  }
  #leave(sessionId: string, own: Own): void {
    const ofSession = this.#own.get(sessionId) ?? [];
    if (ofSession.length > 1) ofSession.splice(ofSession.indexOf(own), 1);
    else this.#own.delete(sessionId);
  }
}
/** The record that a text is; of an own one it is known. */
export function parsedOf(text: string | null, own: Own | undefined): Parsed {
  return own?.parsed ?? parseRecord(text);
}
