/**
 * What this process has appended and waits for: the verdict that the own fold gives to exactly these bytes.
 * Two who derive the same record in the same millisecond write the same text; one copy of it answers both.
 */
import { type Parsed, parseRecord } from "../core/events/parse.ts";
import type { RunningDigest, Verdict } from "../core/session/evolve.ts";
import type { Written } from "./author.ts";

/** A text that this process waits for. */
export interface Own {
  readonly parsed: Parsed;
  /** Where the text was folded ahead, in a batch that was put together: the digest that it led to. */
  readonly running: RunningDigest | undefined;
  readonly waiters: ((verdict: Verdict) => void)[];
}

export class ReadBacks {
  readonly #own = new Map<string, Own>();

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
  #ownOf(written: Written): Own {
    const known = this.#own.get(written.text);
    if (known) return known;
    const own: Own = { parsed: { kind: "record", record: written.record }, running: written.running, waiters: [] };
    this.#own.set(written.text, own);
    return own;
  }
  /** Gives a read-back up: the append is known not to be there, or nobody waits any more. */
  abandon(written: Written): void {
    const own = this.#own.get(written.text);
    own?.waiters.pop();
    if (own?.waiters.length === 0) this.#own.delete(written.text);
  }

  /** What is known of a text that this process waits for: it is looked up once a record, because each look-up hashes the whole text anew where it came from a file. */
  of(text: string | null): Own | undefined {
    return text === null || this.#own.size === 0 ? undefined : this.#own.get(text);
  }
  /** The first copy that the fold meets answers everybody who waits for this text. */
  settle(text: string, own: Own, verdict: Verdict): void {
    this.#own.delete(text);
    for (const settle of own.waiters) settle(verdict);
  }
}
/** The record that a text is; of an own one it is known. */
export function parsedOf(text: string | null, own: Own | undefined): Parsed {
  return own?.parsed ?? parseRecord(text);
}
