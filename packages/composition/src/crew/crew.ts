/** What carries sessions in one process: runners and a scheduler on one engine, offered what they may take. */
import type { HandlerNames } from "@loopledger/shared/core/session/handlers-named";
import type { SessionState } from "@loopledger/shared/core/session/state";
import { Carrier, type Crew, type CycleRunner, type Engine, Liveness, Offers } from "@loopledger/shared/runtime";
import { Leftovers } from "./leftovers.ts";
import type { Live, Roles } from "./roles.ts";

export interface Serving {
  /** Sessions that this process may claim. */
  readonly claims: (state: SessionState) => boolean;
  /** Sessions that it claims only where nobody else does, so that what is missing is told. */
  readonly leaves?: (state: SessionState) => boolean;
  /** What it can run: the processes that serve with it leave to it what it can, and wait for it with nothing else. Left out: everything. */
  readonly handlers?: HandlerNames;
}
export interface CrewOptions {
  readonly roles: Pick<Roles, "scheduler" | "worker" | "checker">;
  /** Longest step of an owner in ms, for as long as no lease service answers. */
  readonly stepLimitMs: (owner: { readonly role: "worker" | "checker" }) => number;
  readonly live?: Live;
  /** What this process takes on. */
  readonly serves: Serving;
  /** Most sessions carried at a time; left out, 100: steps that think leave room for many, steps that compute for few. */
  readonly sessionsMax?: number;
  /** What it takes on is its own alone: it shares nothing with the processes that serve. */
  readonly alone?: boolean;
}
export interface RunningCrew {
  readonly offers: Offers;
  readonly carrier: Carrier;
  readonly liveness: Liveness;
  /** Takes what is offered from now on; who only shows or projects takes nothing, and holds no lease. */
  start(): void;
  /** Hands back what is carried, releases the lease. */
  stop(): Promise<void>;
}

const sessionsMaxDefault = 100;

/** Builds the crew; nothing is offered before `start()`. */
export async function buildCrew(engine: Engine, options: CrewOptions): Promise<RunningCrew> {
  const liveness = new Liveness(engine, options.stepLimitMs);
  const crew: Crew = { runners: runnersOf(engine, options), scheduler: options.roles.scheduler?.(engine) ?? null, liveness };
  const carrier = new Carrier(engine, crew);
  const { claims, leaves, handlers = null } = options.serves;
  const leftovers = leaves ? new Leftovers({ engine, liveness, leaves }) : null;
  const offers = new Offers(engine, crew, {
    carrier, settings: { sessionsMax: options.sessionsMax ?? sessionsMaxDefault, claims: (state) => claims(state) || (leftovers?.isRipe(state) ?? false) },
  });
  let isOver = false;
  const works = crew.runners.length > 0 || crew.scheduler !== null;
  if (works) {
    await liveness.start();
    leftovers?.start(offers);
  }
  return {
    offers, carrier, liveness, start: () => {
      if (!works) return;
      if (options.alone) offers.start();
      else void share(crew, handlers).then(() => isOver || offers.start());
    },
    stop: async () => {
      isOver = true;
      leftovers?.stop();
      await offers.stop();
      await liveness.stop();
    },
  };
}

/** What processes share among each other: the sessions of a role, as far as their handlers go; and what is owed, which needs no handler. */
async function share({ runners, scheduler, liveness }: Crew, handlers: HandlerNames | null): Promise<void> {
  await liveness.join(runners.map(({ role }) => role), handlers);
  if (scheduler) await liveness.join(["scheduler"]);
}

function runnersOf(engine: Engine, { roles: { worker, checker }, live }: CrewOptions): CycleRunner[] {
  return [worker, checker].flatMap((make) => (make ? [make(engine, live ? { live } : {})] : []));
}
