/** The roles of one process on one engine: what `dev`, `run` and `serve` compose. A role's code is loaded when it is wanted. */
import type { SessionState } from "@loopledger/shared/core/session/state";
import { Carrier, type Crew, type CycleRunner, type Engine, Liveness, Offers } from "@loopledger/shared/runtime";
import { isAdHoc } from "./ad-hoc.ts";

export const roleNames = ["scheduler", "worker", "checker", "projector", "gateway", "intake"] as const;
export type RoleName = (typeof roleNames)[number];

/** Gets what a running maker or check prints. */
export type Live = (sessionId: string, source: "maker" | "check", chunk: Uint8Array) => void;

export interface CrewOptions {
  readonly roles: readonly RoleName[];
  /** Longest step of an owner in ms, for as long as no lease service answers. */
  readonly stepLimitMs: (owner: { readonly role: "worker" | "checker" }) => number;
  readonly live?: Live;
  /** Sessions that this process may claim (default: all that no `run` brought its own commands for). */
  readonly claims?: (state: SessionState) => boolean;
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
    carrier, settings: { sessionsMax: options.sessionsMax ?? sessionsMaxDefault, claims: options.claims ?? ((state) => !isAdHoc(state)) },
  });
  await liveness.start();
  return {
    offers, carrier, liveness,
    stop: async () => {
      await offers.stop();
      await liveness.stop();
    },
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
