/**
 * Who lives? This process's one lease for all its sessions, and what can be known of others.
 *
 * L1. It decides only who should try. Losing the lease service costs time, never safety.
 * L2. On the owner's own host a dead process is proof enough; no lease is waited for.
 * L3. Who wrote to the ledger within a lease's time lives, whatever the lease service says: where it has forgotten everybody,
 *     its clients would else take one session from each other until the takeover limit ends it.
 * L4. Of those that do the same work each knows the others and what they can run as of the last beat, and so whose turn a session is.
 *     What a process can run goes with its name: the beat is one write a work, however many handlers and sessions there are.
 * L5. A lease service that throws is one that cannot be reached: the beat goes on and takes a lease when there is one again.
 */
import type { OwnerId } from "../core/brand.ts";
import type { HandlerNames } from "../core/session/handlers-named.ts";
import type { Owner, SessionState } from "../core/session/state.ts";
import type { HolderState, Liveness as Lease } from "../ports/index.ts";
import { type Peer, memberOf, needsOf, peerOf, rankOf } from "./affinity.ts";
import type { Engine } from "./engine.ts";
import type { Part } from "./supervision.ts";

/** A work that this process shares: the name that it is gathered under, and who was there at the last beat. */
interface Shared {
  readonly member: string;
  readonly self: Peer;
  peers: readonly Peer[];
}

export class Liveness {
  readonly #engine: Engine;
  #lease: Lease | null = null;
  #stop: (() => void) | null = null;
  /** The last beat found no lease to renew. */
  #without = false;
  readonly #limits: (owner: Owner) => number;
  /** Of each work that is shared, by its name. */
  readonly #shared = new Map<string, Shared>();
  /** The last answer of the lease service for each owner; asked anew after an eighth of a lease. */
  readonly #answers = new Map<OwnerId, { readonly at: number; readonly state: Promise<HolderState> }>();

  constructor(engine: Engine, stepLimitMs: (owner: Owner) => number) {
    this.#engine = engine;
    this.#limits = stepLimitMs;
  }
  get #part(): Part {
    return this.#engine.supervision.part("lease");
  }

  async start(): Promise<void> {
    this.#lease = await this.#register();
    this.#beat();
  }
  /** Renews three times within a lease; a failed renewal is tried again and takes nothing down. */
  #beat(): void {
    this.#stop = this.#part.after(this.#engine.leaseMs / 3, async () => {
      await this.#keep();
      await this.#gather(this.#engine.leaseMs);
      if (this.#stop) this.#beat();
    }, "beat");
  }
  /** A lease that ran out while this process was stopped is never renewed: it takes a new one, so that what it claims from then on is its own again. */
  async #keep(): Promise<void> {
    const renewed = await this.#asked("renew", async () => (await this.#lease?.renew()) ?? false);
    if (renewed) {
      this.#without = false;
      return;
    }
    // Told once, not at each beat: a full disk or a lease service that is away may last for hours.
    if (!this.#without) this.#engine.log.warn("liveness lease not renewed; a new one is taken");
    this.#without = true;
    const lease = await this.#register();
    if (this.#stop) this.#lease = lease ?? this.#lease;
    else await lease?.release();
  }
  #register(): Promise<Lease | null> {
    return this.#asked("register", () => this.#engine.ownership.register(this.#engine.ownerId, this.#engine.leaseMs));
  }
  /** Null where the lease service throws; with its next answer to anything it counts as working again. */
  async #asked<T>(what: string, question: () => Promise<T>): Promise<T | null> {
    try {
      const answer = await question();
      for (const one of ["renew", "register", "holder", "take", "gather"]) this.#part.works(one);
      return answer;
    } catch (error) {
      this.#part.failed(error, what);
      return null;
    }
  }
  async stop(): Promise<void> {
    this.#stop?.();
    this.#stop = null;
    await this.#gather(0);
    await this.#asked("release", async () => this.#lease?.release());
  }

  /** From now on this process takes what is offered of this work, as far as its handlers go (null = all of it), and shares it with whoever does the same. */
  async join(works: readonly string[], handlers: HandlerNames | null = null): Promise<void> {
    const member = memberOf(this.#engine.ownerId, handlers);
    for (const work of works) this.#shared.set(work, { member, self: peerOf(member), peers: [] });
    await this.#gather(this.#engine.leaseMs, works);
  }
  /** How many go before this process with a session, 0 = its turn; always 0 for who shares that work with nobody. */
  rank(state: Pick<SessionState, "sessionId" | "submission">, work: string): number {
    const shared = this.#shared.get(work);
    return shared ? rankOf(shared.self, shared.peers, { sessionId: state.sessionId, needs: needsOf(state) }) : 0;
  }
  async #gather(ttlMs: number, works: Iterable<string> = this.#shared.keys()): Promise<void> {
    for (const work of works) {
      const shared = this.#shared.get(work);
      const members = shared && (await this.#asked("gather", () => this.#engine.ownership.gather(work, shared.member, ttlMs)));
      if (shared && members) shared.peers = members.map(peerOf);
    }
  }

  /** Whether an owner still lives, as far as anybody here can tell. */
  async look(owner: Owner): Promise<"live" | "gone"> {
    if (owner.id === this.#engine.ownerId) return "live";
    if (this.#engine.host.look(owner.host) === "dead") return "gone";
    const holder = await this.#holder(owner.id);
    if (holder === "live") return "live";
    const silentMs = this.#engine.logClock.now() - owner.lastAt;
    const allowedMs = holder === "expired" ? owner.leaseMs : this.#limits(owner) + this.#engine.silenceMs;
    return silentMs > allowedMs ? "gone" : "live";
  }
  /** The owner's process is not known to be dead, and its lease runs. */
  async isSeen(owner: Owner): Promise<boolean> {
    return this.#engine.host.look(owner.host) !== "dead" && (await this.#holder(owner.id)) === "live";
  }
  #holder(id: OwnerId): Promise<HolderState> {
    const now = this.#engine.clock.monotonic();
    const known = this.#answers.get(id);
    if (known && now - known.at < this.#engine.leaseMs / 8) return known.state;
    if (this.#answers.size > 1_000) this.#answers.clear();
    const state = this.#asked("holder", () => this.#engine.ownership.holder(id)).then((answer) => answer ?? "unreachable");
    this.#answers.set(id, { at: now, state });
    return state;
  }
  /** True for one of several processes that want to take over from a dead owner. */
  async mayTakeOver(resource: string): Promise<boolean> {
    const { ownership, ownerId, leaseMs } = this.#engine;
    // Where nobody can arbitrate, the ledger does: of several claims it accepts the first.
    const isTaken = await this.#asked("take", () => ownership.tryTake(resource, ownerId, leaseMs));
    return isTaken !== false || (await this.#holder(ownerId)) === "unreachable";
  }
}
