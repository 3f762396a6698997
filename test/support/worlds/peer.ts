/** One process of a world: the ports behind its gate, the engine on them, and the roles that it plays. */
import type { SessionId } from "@loopledger/shared/core/brand";
import { type Guards, guardsOn } from "@loopledger/shared/core/fencing/guards";
import { makeEvolve } from "@loopledger/shared/core/session/evolve";
import type { SessionState } from "@loopledger/shared/core/session/state";
import type { MemoryProcess } from "@loopledger/shared/memory";
import type { Positions } from "@loopledger/shared/ports";
import {
  type CarryEnd, Carrier, type Crew, type CycleRunner, type Engine, Liveness, Offers, type Ports, makeEngine, parseFailpoints,
} from "@loopledger/shared/runtime";
import { reviewRunner } from "@loopledger/checker/checker";
import { makeScheduler } from "@loopledger/scheduler/scheduler";
import { buildRunner } from "@loopledger/worker/worker";

export type Role = "scheduler" | "worker" | "checker";
export const allRoles: readonly Role[] = ["scheduler", "worker", "checker"];

export interface PeerSettings {
  readonly leaseMs: number;
  readonly roles?: readonly Role[];
  /** What stands in LOOPLEDGER_FAILPOINTS. */
  readonly failpoints?: string;
  /** Taken away one at a time to see what it holds back. */
  readonly guards?: Partial<Guards>;
  readonly claims?: (state: SessionState) => boolean;
  /** Sessions that it follows; all where it is left out. */
  readonly only?: (sessionId: SessionId) => boolean;
}

export interface Peer {
  readonly engine: Engine;
  readonly process: MemoryProcess;
  /** Takes what is offered from now on. */
  work(): void;
  /** Carries one session by itself, as `run` and `advance` do. */
  carry(sessionId: SessionId, options?: { readonly cyclesMax?: number }): Promise<CarryEnd>;
  /** Leaves in order: hands back, releases its lease. */
  leave(): Promise<void>;
}

export async function makePeer(ports: Ports, process: MemoryProcess, settings: PeerSettings): Promise<Peer> {
  const guards: Guards = { ...guardsOn, ...settings.guards };
  const { failpoints, faults } = parseFailpoints(settings.failpoints ?? "", ports.clock);
  if (faults.length > 0) throw new RangeError(faults.join("; "));
  const engine = makeEngine(ports, {
    leaseMs: settings.leaseMs, silenceMs: 60_000, failpoints, guards, ...(settings.only && { only: settings.only }),
  });
  const liveness = new Liveness(engine, () => 600_000);
  await liveness.start();
  await engine.folds.start(everything(ports));
  await engine.folds.caughtUp();
  const crew = crewOf(engine, liveness, settings.roles ?? allRoles);
  const carrier = new Carrier(engine, crew);
  const offers = new Offers(engine, crew, { carrier, settings: { sessionsMax: 100, ...(settings.claims && { claims: settings.claims }) } });
  const stopping = new AbortController();
  return {
    engine, process,
    work: () => offers.start(),
    carry: (sessionId, options = {}) => carrier.carry(sessionId, { stopping: stopping.signal, ...options }),
    async leave() {
      stopping.abort();
      await offers.stop();
      await liveness.stop();
      await engine.folds.close();
    },
  };
}

export function crewOf(engine: Engine, liveness: Liveness, roles: readonly Role[]): Crew {
  const runners: CycleRunner[] = [];
  if (roles.includes("worker")) runners.push(buildRunner(engine));
  if (roles.includes("checker")) runners.push(reviewRunner(engine));
  return { runners, scheduler: roles.includes("scheduler") ? makeScheduler(engine) : null, liveness };
}

/** From the first entry of every partition. */
export function everything({ ledger }: Pick<Ports, "ledger">): Positions {
  return new Map(Array.from({ length: ledger.partitions }, (_, partition) => [partition, 0 as never]));
}

/** The fold that a reader with these guards runs. */
export function evolveWith(guards: Partial<Guards> = {}) {
  return makeEvolve({ ...guardsOn, ...guards });
}
