/**
 * What this process has appended and waits for: the verdict that the own fold gives to exactly these bytes.
 * Two who derive the same record in the same millisecond write the same text; one copy of it answers both.
 */
import { type Parsed, parseRecord } from "../core/events/parse.ts";
import type { RunningDigest, Verdict } from "../core/session/evolve.ts";
import type { Written } from "./author.ts";

interface Own {
  readonly parsed: Parsed;
  /** Where the text was folded ahead, in a batch that was put together: the digest that it led to. */
  readonly running: RunningDigest | undefined;
  readonly waiters: ((verdict: Verdict) => void)[];
}

export class ReadBacks {
  readonly #own = new Map<string, Own>();

  /** Waits for the verdicts on texts that are about to be appended, in their order. Called before the append. */
  expect(group: readonly Written[]): Promise<Verdict[]> {
    return new Promise((settle) => {
      const verdicts: Verdict[] = [];
      let left = group.length;
      for (const [at, written] of group.entries()) {
        this.#ownOf(written).waiters.push((verdict) => {
          verdicts[at] = verdict;
          if (--left === 0) settle(verdicts);
        });
      }
    });
  }
  #ownOf(written: Written): Own {
    const known = this.#own.get(written.text);
    if (known) return known;
    const own: Own = { parsed: { kind: "record", record: written.record }, running: written.running, waiters: [] };
    this.#own.set(written.text, own);
    return own;
  }
  /** What an own text led to where it was folded ahead: from the same beginning it leads there again. */
  running(text: string | null): RunningDigest | undefined {
    return this.#own.get(text ?? "")?.running;
  }
  /** Gives a read-back up: the append is known not to be there, or nobody waits any more. */
  abandon(written: Written): void {
    const own = this.#own.get(written.text);
    own?.waiters.pop();
    if (own?.waiters.length === 0) this.#own.delete(written.text);
  }

  waitsFor(text: string | null): boolean {
    return this.#own.has(text ?? "");
  }
  /** The record that a text is; of an own one it is known. */
  parse(text: string | null): Parsed {
    return this.#own.get(text ?? "")?.parsed ?? parseRecord(text);
  }
  /** The first copy that the fold meets answers everybody who waits for this text. */
  settle(text: string | null, verdict: Verdict): void {
    const own = this.#own.get(text ?? "");
    if (!own) return;
    this.#own.delete(text ?? "");
    for (const settle of own.waiters) settle(verdict);
  }
}
