/**
 * Sessions that this process cannot run, and that are claimed by it only so that somebody learns what is missing.
 *
 * They are left to others for as long as one might come: the wait begins when the session is seen to be in nobody's hands, after its
 * owner's death as after its dispatch, and begins anew with every record of it.
 */
import type { SessionId } from "@loopledger/shared/core/brand";
import { type SessionState, holderOf } from "@loopledger/shared/core/session/state";
import type { Engine, Liveness, Offers } from "@loopledger/shared/runtime";

export interface LeftoversOptions {
  readonly engine: Engine;
  readonly liveness: Pick<Liveness, "look">;
  /** Sessions that are not taken at once, and by nobody else either after a while. */
  readonly leaves: (state: SessionState) => boolean;
}
/** Looks at each of them so often within the time of a lease. */
const looksPerLease = 4;

export class Leftovers {
  readonly #options: LeftoversOptions;
  /** Of each session that is left to others: the seq that it stands at, and since when it is in nobody's hands (monotonic ms). */
  readonly #left = new Map<SessionId, { readonly seq: number; readonly freeSince: number | null }>();
  /** Those that nobody has come for, by the seq that they stood at. */
  readonly #ripe = new Map<SessionId, number>();
  #stop: (() => void) | null = null;
  #stopListening: (() => void) | null = null;

  constructor(options: LeftoversOptions) {
    this.#options = options;
  }

  /** Nobody has come for it in the time of a lease. */
  isRipe({ sessionId, seq }: SessionState): boolean {
    return this.#ripe.get(sessionId) === seq;
  }
  start(offers: Pick<Offers, "offer">): void {
    const { folds } = this.#options.engine;
    const stops = [folds.listen(({ state }) => this.#note(state), "leftovers"), folds.onSeeded((state) => this.#note(state), "leftovers")];
    this.#stopListening = () => {
      for (const stop of stops) stop();
    };
    for (const id of folds.ids()) {
      const state = folds.peek(id);
      if (state) this.#note(state);
    }
    this.#again(offers);
  }
  stop(): void {
    this.#stopListening?.();
    this.#stop?.();
    this.#stop = null;
  }

  #note(state: SessionState): void {
    if (this.#ripe.get(state.sessionId) !== state.seq) this.#ripe.delete(state.sessionId);
    if (state.open !== null && this.#options.leaves(state)) this.#left.set(state.sessionId, { seq: state.seq, freeSince: null });
    else this.#left.delete(state.sessionId);
  }
  #again(offers: Pick<Offers, "offer">): void {
    const { supervision, leaseMs } = this.#options.engine;
    this.#stop = supervision.part("leftovers.looks").after(leaseMs / looksPerLease, async () => {
      await this.#look(offers);
      if (this.#stop) this.#again(offers);
    });
  }
  async #look(offers: Pick<Offers, "offer">): Promise<void> {
    const { engine: { folds, clock, leaseMs }, liveness } = this.#options;
    for (const [id, { seq, freeSince }] of [...this.#left]) {
      const state = folds.peek(id);
      if (state?.seq !== seq) continue;
      const holder = holderOf(state);
      const free = holder === null || (await liveness.look(holder)) === "gone";
      if (this.#left.get(id)?.seq !== seq) continue;
      const since = free ? (freeSince ?? clock.monotonic()) : null;
      this.#left.set(id, { seq, freeSince: since });
      if (since === null || clock.monotonic() - since < leaseMs) continue;
      this.#left.delete(id);
      this.#ripe.set(id, seq);
      offers.offer(id);
    }
  }
}
