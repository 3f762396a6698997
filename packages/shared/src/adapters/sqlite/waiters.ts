/** Who waits for a position of the log to be reached. */
interface Waiter {
  readonly position: number;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

export class Waiters {
  #waiting: Waiter[] = [];

  wait(position: number): Promise<void> {
    return new Promise((done, failed) => {
      this.#waiting.push({ position, done, failed });
    });
  }

  reach(position: number): void {
    if (this.#waiting.length === 0) return;
    const reached = this.#waiting.filter((waiter) => waiter.position <= position);
    this.#waiting = this.#waiting.filter((waiter) => waiter.position > position);
    for (const waiter of reached) waiter.done();
  }

  fail(error: unknown): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const waiter of waiting) waiter.failed(error);
  }
}
