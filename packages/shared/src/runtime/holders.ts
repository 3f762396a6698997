/**
 * Sessions that wait for their holder: one look a holder and moment, however many sessions it holds.
 *
 * W1. A session is offered again as soon as its holder is not seen to live, and then as often as before: whether its time is over is
 *     told by its own records.
 * W2. Nothing is looked at for a session that does not wait any more.
 */
import type { OwnerId, SessionId } from "../core/brand.ts";
import type { Owner } from "../core/session/state.ts";
import type { Liveness } from "./liveness.ts";
import type { Part } from "./supervision.ts";

export interface HoldersOptions {
  readonly liveness: Pick<Liveness, "isSeen">;
  readonly part: Part;
  /** Between two looks, in ms. */
  readonly lookMs: number;
  readonly offer: (sessionId: SessionId) => void;
}
interface Held {
  readonly owner: Owner;
  readonly sessions: Set<SessionId>;
}

export class Holders {
  readonly #options: HoldersOptions;
  readonly #held = new Map<OwnerId, Held>();
  readonly #holderOf = new Map<SessionId, OwnerId>();

  constructor(options: HoldersOptions) {
    this.#options = options;
  }

  /** The session is offered again when its holder is seen no more. */
  wait(sessionId: SessionId, owner: Owner): void {
    this.forget(sessionId);
    const known = this.#held.get(owner.id);
    const held = known ?? { owner, sessions: new Set<SessionId>() };
    held.sessions.add(sessionId);
    this.#holderOf.set(sessionId, owner.id);
    if (known) return;
    this.#held.set(owner.id, held);
    this.#again(held);
  }
  forget(sessionId: SessionId): void {
    const id = this.#holderOf.get(sessionId);
    if (id === undefined) return;
    this.#holderOf.delete(sessionId);
    this.#held.get(id)?.sessions.delete(sessionId);
  }

  /** Nothing is looked at any more. */
  stop(): void {
    for (const { sessions } of this.#held.values()) sessions.clear();
    this.#holderOf.clear();
  }

  #again(held: Held): void {
    const { part, lookMs } = this.#options;
    part.after(lookMs, async () => {
      const isSeen = held.sessions.size > 0 && (await this.#options.liveness.isSeen(held.owner));
      if (isSeen) return this.#again(held);
      // Who waits from now on is looked at anew.
      this.#held.delete(held.owner.id);
      for (const sessionId of held.sessions) this.#options.offer(sessionId);
    }, held.owner.id);
  }
}
