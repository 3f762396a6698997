/** The roles of one process on one engine: what `dev`, `run` and `serve` compose. A role's code is loaded when it is wanted. */
import type { SessionId } from "@loopledger/shared/core/brand";
import type { SessionState } from "@loopledger/shared/core/session/state";
import { Carrier, type Crew, type CycleRunner, type Engine, Liveness, Offers } from "@loopledger/shared/runtime";

export const roleNames = ["scheduler", "worker", "checker", "projector", "gateway", "intake"] as const;
export type RoleName = (typeof roleNames)[number];

/** Gets what a running maker or check prints. */
export type Live = (sessionId: string, source: "maker" | "check", chunk: Uint8Array) => void;

export interface Serving {
  /** Sessions that this process may claim. */
  readonly claims: (state: SessionState) => boolean;
  /** After how many ms without a change a session may be claimed that may not be claimed now; null = that changes nothing. */
  readonly patienceMs?: (state: SessionState) => number | null;
}
export interface CrewOptions {
  readonly roles: readonly RoleName[];
  /** Longest step of an owner in ms, for as long as no lease service answers. */
  readonly stepLimitMs: (owner: { readonly role: "worker" | "checker" }) => number;
  readonly live?: Live;
  /** What this process takes on. */
  readonly serves: Serving;
  /** Most sessions carried at a time. */
  readonly sessionsMax?: number;
}
export interface RunningCrew {
  readonly offers: Offers;
  readonly carrier: Carrier;
  readonly liveness: Liveness;
  /** Hands back what is carried, releases the lease. */
  stop(): Promise<void>;
}

const sessionsMaxDefault = 64;

/** Builds the crew; nothing is offered before `offers.start()`. */
export async function buildCrew(engine: Engine, options: CrewOptions): Promise<RunningCrew> {
  const liveness = new Liveness(engine, options.stepLimitMs);
  const crew: Crew = { runners: await runnersOf(engine, options), scheduler: await schedulerOf(engine, options.roles), liveness };
  const carrier = new Carrier(engine, crew);
  const offers = new Offers(engine, crew, {
    carrier, settings: { sessionsMax: options.sessionsMax ?? sessionsMaxDefault, claims: options.serves.claims },
  });
  const stopOffering = offerLater(engine, offers, options.serves);
  await liveness.start();
  return {
    offers, carrier, liveness,
    stop: async () => {
      stopOffering();
      await offers.stop();
      await liveness.stop();
    },
  };
}

/** What is left to others for a while is offered here again when the while is over, unless it has changed by then. */
function offerLater(engine: Engine, offers: Offers, { patienceMs }: Serving): () => void {
  if (!patienceMs) return () => undefined;
  const alarms = new Map<SessionId, () => void>();
  const arm = (state: SessionState): void => {
    const { sessionId } = state;
    alarms.get(sessionId)?.();
    alarms.delete(sessionId);
    const waitMs = patienceMs(state);
    if (waitMs === null) return;
    alarms.set(sessionId, engine.clock.after(waitMs + 1, () => {
      alarms.delete(sessionId);
      offers.offer(sessionId);
    }));
  };
  const stopListening = engine.folds.listen(({ state }) => arm(state));
  for (const id of engine.folds.ids()) {
    const state = engine.folds.peek(id);
    if (state) arm(state);
  }
  return () => {
    stopListening();
    for (const cancel of alarms.values()) cancel();
  };
}

async function runnersOf(engine: Engine, { roles, live }: CrewOptions): Promise<CycleRunner[]> {
  const options = live ? { live } : {};
  const runners: CycleRunner[] = [];
  if (roles.includes("worker")) runners.push((await import("@loopledger/worker/worker")).buildRunner(engine, options));
  if (roles.includes("checker")) runners.push((await import("@loopledger/checker/checker")).reviewRunner(engine, options));
  return runners;
}
async function schedulerOf(engine: Engine, roles: readonly RoleName[]): Promise<Crew["scheduler"]> {
  if (!roles.includes("scheduler")) return null;
  return (await import("@loopledger/scheduler/scheduler")).makeScheduler(engine);
}
