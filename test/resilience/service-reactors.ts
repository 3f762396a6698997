/** The reactors of each service as a process of its own on a data folder: what makes each of them be passed, and which of them never are. */
import type { ServiceName, Submitted } from "./struck-services.ts";

export interface ServiceReactor extends Submitted {
  readonly name: string;
  /** What its own process is told or asked before the session is submitted, where the session alone does not lead there. */
  readonly tell?: object;
  /** What is asked of the gateway meanwhile. */
  readonly get?: string;
}
export interface ServiceReactors {
  readonly struck: readonly ServiceReactor[];
  /** Names that are known there and cannot fail while it serves: why. */
  readonly never: Readonly<Record<string, string>>;
}

const named = (...names: readonly string[]): ServiceReactor[] => names.map((name) => ({ name }));
const atStart = { restore: "fails at the start only, before anybody could ask for readiness" };
const carriesNothing = Object.fromEntries(["cycles", "offers.sessions", "offers.timers"].map((name) => [name, "it carries no session"]));
const common = named("folds", "folds.history", "figures", "figures.positions", "ledger.bell");
/** A session that is done before anything is struck. */
export const firstId = "first";

/** Worker and checker alike: `own` is the handler that the service runs. */
const runs = (own: "maker" | "check"): ServiceReactor[] => [
  ...common, ...named("ledger.commits", "lease", "offers", "leftovers", "leftovers.looks", "offers.sessions", "cycles"),
  // What could not be carried is offered again after a pause.
  { name: "offers.timers", tell: { trip: "offers.sessions" } },
  { name: "cycles.watch", [own]: "waiter" },
  { name: "steps", [own]: "program" },
  // Where a cycle has failed, the next one is waited for.
  { name: "changes", tell: { trip: "cycles" } },
];

export const reactorsOf: Readonly<Record<ServiceName, ServiceReactors>> = {
  scheduler: {
    // What is owed is written by the owners; a retry's time is nobody's but the scheduler's.
    struck: [...common, ...named("lease", "offers"), ...["ledger.commits", "offers.sessions", "offers.timers"].map((name) => ({ name, maker: "later" }))],
    never: { ...atStart, cycles: "it runs no maker and no check" },
  },
  worker: { struck: runs("maker"), never: atStart },
  checker: { struck: runs("check"), never: atStart },
  projector: {
    struck: [...common, ...named("projector", "projector.changes", "projector.positions", "projector.timers")],
    never: { ...atStart, ...carriesNothing, "ledger.commits": "it appends nothing" },
  },
  gateway: {
    struck: [
      ...common, ...named("gateway.arrivals", "gateway.feed", "gateway.feed.positions", "gateway.keepalive"),
      { name: "gateway.streams", get: "/v1/stream?after=start" },
      { name: "gateway.server", tell: { emit: true } },
      // A request that waits for a seq; its waiting ends by a timer.
      { name: "changes", get: `/v1/sessions/${firstId}?atLeast=9999` },
      { name: "ledger.commits", posted: true },
    ],
    never: { ...atStart, ...carriesNothing },
  },
};

/**
 * The intake's, on Kafka: `posted` is a goal on its topic; the others come from somebody beside it. `intake.gap` is known from the first gap
 * on and stays faulty until a person has seen it: test/intake/bad-goals.test.ts makes one.
 */
export const intakeReactors: ServiceReactors = {
  struck: [
    ...named("folds", "folds.history", "figures", "figures.positions"),
    { name: "intake", posted: true },
    { name: "intake.topic", posted: true },
  ],
  never: { ...atStart, ...carriesNothing },
};
