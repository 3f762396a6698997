/**
 * What this process has appended and waits for: the verdict that the own fold gives to exactly these bytes.
 * Two who derive the same record in the same millisecond write the same text; one copy of it answers both.
 */
import { type Parsed, parseRecord } from "../core/events/parse.ts";
import type { Verdict } from "../core/session/evolve.ts";
import type { Written } from "./author.ts";

interface Own { readonly parsed: Parsed; readonly waiters: ((verdict: Verdict) => void)[] }

export class ReadBacks {
  readonly #own = new Map<string, Own>();

  /** Waits for the verdict on a text that is about to be appended. Called before the append. */
  expect(written: Written): Promise<Verdict> {
    const own = this.#own.get(written.text) ?? { parsed: { kind: "record", record: written.record }, waiters: [] };
    this.#own.set(written.text, own);
    return new Promise((settle) => own.waiters.push(settle));
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
