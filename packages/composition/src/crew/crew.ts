/** What carries sessions in one process: runners and a scheduler on one engine, offered what they may take. */
import type { SessionId } from "@loopledger/shared/core/brand";
import type { SessionState } from "@loopledger/shared/core/session/state";
import { Carrier, type Crew, type CycleRunner, type Engine, Liveness, Offers } from "@loopledger/shared/runtime";
import type { Live, Roles } from "./roles.ts";

export interface Serving {
  /** Sessions that this process may claim. */
  readonly claims: (state: SessionState) => boolean;
  /** After how many ms without a change a session may be claimed that may not be claimed now; null = that changes nothing. */
  readonly patienceMs?: (state: SessionState) => number | null;
}
export interface CrewOptions {
  readonly roles: Pick<Roles, "scheduler" | "worker" | "checker">;
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
  const crew: Crew = { runners: runnersOf(engine, options), scheduler: options.roles.scheduler?.(engine) ?? null, liveness };
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

function runnersOf(engine: Engine, { roles: { worker, checker }, live }: CrewOptions): CycleRunner[] {
  return [worker, checker].flatMap((make) => (make ? [make(engine, live ? { live } : {})] : []));
}
