/** What every role works with: the ports, and the few things that are built on them. Made once by a composition root. */
import type { OwnerId } from "../core/brand.ts";
import { type Guards, guardsOn } from "../core/fencing/guards.ts";
import { makeEvolve } from "../core/session/evolve.ts";
import type { Blobs, Clock, DeadLetters, Handlers, Host, Ids, Inbox, Ledger, Ownership, ReadModel, Schemas, StatusFeed } from "../ports/index.ts";
import { Author } from "./author.ts";
import { Failpoints } from "./failpoints.ts";
import { Folds, type FoldsOptions } from "./folds.ts";
import { type Log, silentLog } from "./log.ts";
import { LogClock } from "./log-clock.ts";
import { Supervision } from "./supervision.ts";

export interface Ports {
  readonly ledger: Ledger;
  readonly ownership: Ownership;
  readonly blobs: Blobs;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly host: Host;
  readonly handlers: Handlers;
  readonly views?: ReadModel;
  /** What other systems follow; only where there is one, and only for who writes the views. */
  readonly feed?: StatusFeed;
  /** Only where a registry is configured. */
  readonly schemas?: Schemas;
  /** The goals topic and what of it could not be taken in; only where there is one. */
  readonly inbox?: Inbox;
  readonly deadLetters?: DeadLetters;
}
export interface EngineSettings {
  readonly leaseMs: number;
  /** Silence on the ledger after which an owned session may be taken over while no lease service answers, in ms. */
  readonly silenceMs: number;
  readonly log?: Log;
  readonly failpoints?: Failpoints;
  /** Of the process, where something runs in it before there is an engine. */
  readonly supervision?: Supervision;
  /** Only test code hands in anything but the default. */
  readonly guards?: Guards;
  readonly only?: FoldsOptions["only"];
  /** How long an append that is not acknowledged is sent again before its error is thrown, in ms; left out: for ever. */
  readonly patienceMs?: number;
}
export interface Engine extends Ports {
  readonly ownerId: OwnerId;
  readonly author: Author;
  readonly folds: Folds;
  readonly failpoints: Failpoints;
  readonly guards: Guards;
  /** The time by which timers and call windows are judged, as far as this process can tell. */
  readonly logClock: LogClock;
  readonly log: Log;
  /** Every reactor, timer and stream that runs on this engine, by name. */
  readonly supervision: Supervision;
  readonly leaseMs: number;
  readonly silenceMs: number;
  readonly patienceMs: number;
}

export function makeEngine(ports: Ports, settings: EngineSettings): Engine {
  const log = settings.log ?? silentLog;
  const guards = settings.guards ?? guardsOn;
  const report = (error: unknown, what: string): void => log.error({ err: error }, what);
  const supervision = settings.supervision ?? new Supervision({ clock: ports.clock, report });
  const logClock = new LogClock(ports.clock);
  const folds = new Folds({
    ledger: ports.ledger, ids: ports.ids, report, heard: (time, own) => logClock.heard(time, own), evolve: makeEvolve(guards), supervision, ...(settings.only && { only: settings.only }),
  });
  return {
    ...ports, folds, guards, log, logClock, supervision, leaseMs: settings.leaseMs, silenceMs: settings.silenceMs,
    patienceMs: settings.patienceMs ?? Number.POSITIVE_INFINITY,
    ownerId: ports.ids.uuid() as OwnerId,
    author: new Author({ ledgerId: ports.ledger.ledgerId, clock: ports.clock, ids: ports.ids }),
    failpoints: settings.failpoints ?? new Failpoints(new Map(), ports.clock),
  };
}
