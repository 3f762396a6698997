/** Every reactor, timer and stream of a serving process: what makes it be passed, and how a failure in it shows. */
import type { StruckProcess } from "./struck.ts";

export interface Reactor {
  readonly name: string;
  /** Makes the place be passed, where a session that is submitted beside does not. */
  readonly provoke?: (stage: StruckProcess, id: string) => Promise<unknown>;
  /** Nobody waits for what it answers: a rejection in it is a stray one and shows in no name. */
  readonly unheard?: true;
  /** The maker of the session that is submitted beside. */
  readonly maker?: string;
}

const unheard = (name: string): Reactor => ({ name, unheard: true });

export const reactors: readonly Reactor[] = [
  // The fold and who hears of it.
  unheard("folds"), { name: "folds.history" },
  unheard("offers"), unheard("leftovers"), { name: "cycles.watch", unheard: true, maker: "waiter" },
  unheard("projector.changes"), unheard("projector.positions"),
  unheard("gateway.feed"), unheard("gateway.feed.positions"), unheard("figures"), unheard("figures.positions"),
  // What carries sessions.
  { name: "offers.sessions" }, { name: "cycles" },
  { name: "offers.timers", provoke: (stage, id) => stage.submit(`${id}-next`) },
  // A request that waits for a seq; its waiting ends by a timer.
  { name: "changes", provoke: async (stage, id) => void stage.get(`/v1/sessions/${id}-before?atLeast=9999`) },
  { name: "lease" }, { name: "leftovers.looks" },
  // The ledger's own, on a data folder.
  { name: "ledger.commits" }, { name: "ledger.bell" },
  // The other roles.
  { name: "projector" }, { name: "projector.timers" },
  { name: "gateway.arrivals" }, { name: "gateway.keepalive" }, { name: "gateway.streams" },
  { name: "gateway.server", provoke: (stage) => stage.emitServerError() },
  { name: "steps", maker: "program" },
];

/** Names that fail at the start only, before anybody could ask for readiness; tests of their own strike them. */
export const atStart = ["restore"];
/** Names of Kafka's alone, which a data folder has not; tests of their own make them fail. */
export const onKafka = ["projector.feed"];
