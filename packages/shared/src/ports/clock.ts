/** Time comes in through here, so that a simulation owns it. */
export interface Clock {
  /** Wall clock in ms; shown to people, never judged. */
  now(): number;
  /** Monotonic ms, going on while the process is stopped; for deadlines. */
  monotonic(): number;
  /** Calls once after `delayMs`; the returned function cancels it. Never keeps the process alive by itself. */
  after(delayMs: number, call: () => void): () => void;
}

/** Ids and randomness. */
export interface Ids {
  uuid(): string;
  /** In [0, 1). */
  random(): number;
  sha256(text: string): string;
}
