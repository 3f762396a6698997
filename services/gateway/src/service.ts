/** What every route works with, and the few questions that several of them ask. */
import type { SessionId } from "@loopledger/shared/core/brand";
import type { Actor } from "@loopledger/shared/core/events/envelope";
import { canonicalJson } from "@loopledger/shared/core/json";
import type { SessionState } from "@loopledger/shared/core/session/state";
import { statusOf } from "@loopledger/shared/core/session/status";
import { type Engine, nextChange } from "@loopledger/shared/runtime";
import type { FastifyInstance, RawReplyDefaultExpression, RawRequestDefaultExpression, RawServerDefault, FastifyBaseLogger } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import type { z } from "zod";
import type { Counters } from "./counters.ts";
import type { Feed } from "./feed.ts";
import type { RateLimit } from "./guard.ts";
import type { Bookmark } from "./history.ts";
import { Problem, type ProblemCode } from "./problems.ts";
import type { Stream } from "./stream.ts";

export type App = FastifyInstance<RawServerDefault, RawRequestDefaultExpression, RawReplyDefaultExpression, FastifyBaseLogger, ZodTypeProvider>;

/** What a route says of itself in the description of the API. */
export interface RouteNotes {
  readonly summary: string;
  /** The body, where it is not among the schemas that the server checks by itself. */
  readonly body?: z.ZodType;
  /** Success by status; null = no JSON. */
  readonly answers: Readonly<Record<number, z.ZodType | null>>;
  /** Refusals that are this route's own. */
  readonly problems?: readonly ProblemCode[];
}
declare module "fastify" {
  interface FastifyContextConfig {
    notes?: RouteNotes;
  }
}

export interface GatewayOptions {
  /** Who acts and submits, for as long as nobody has to prove who they are (default `local`). */
  readonly principal?: string;
  /** What does not take work now, by name; empty = ready. */
  readonly unready?: () => Promise<readonly string[]>;
  /** Figures of the process beside the gateway's own, in Prometheus text. */
  readonly figures?: () => Promise<string>;
  readonly rateLimit?: RateLimit;
  /** How long an `atLeast` is waited for, in ms (default 1,000). */
  readonly waitMs?: number;
  readonly keepAliveMs?: number;
  /** How long a stream's client may take nothing, in ms (default 30,000). */
  readonly stallMs?: number;
  readonly streamsMax?: number;
  /** The window of recent events: rows, and UTF-16 units of their records. */
  readonly window?: { readonly rowsMax: number; readonly charactersMax: number };
}
export type Settings = Required<GatewayOptions>;

export interface Service {
  readonly engine: Engine;
  readonly settings: Settings;
  readonly feed: Feed;
  readonly counters: Counters;
  readonly streams: Set<Stream>;
  /** Where the last readings of events ended, so that the next page need not fold from the beginning. */
  readonly bookmarks: Map<string, Bookmark>;
  isStopping: boolean;
}

export function settingsOf(options: GatewayOptions): Settings {
  return {
    principal: "local", unready: () => Promise.resolve([]), figures: () => Promise.resolve(""),
    rateLimit: { perSecond: 5_000, burst: 20_000 }, waitMs: 1_000, keepAliveMs: 15_000, stallMs: 30_000, streamsMax: 2_000,
    window: { rowsMax: 5_000, charactersMax: 16_777_216 }, ...options,
  };
}

export function actorOf(service: Service): Actor {
  return { kind: "human", id: service.settings.principal };
}

/** The state as of everything that this process has folded. Throws `unknown_session`. */
export async function openSession({ engine }: Service, id: string): Promise<SessionState> {
  const sessionId = id as SessionId;
  const state = await engine.folds.open(sessionId);
  if (state.submission || state.hold) return state;
  // Who asks for names that were never used must not fill the memory.
  engine.folds.forget(sessionId);
  throw new Problem("unknown_session", `There is no session ${id}.`);
}

/** Waits a moment for a session to get as far as `seq`. Throws `seq_ahead`. */
export async function openAtLeast(service: Service, id: string, seq: number): Promise<SessionState> {
  const { engine, settings } = service;
  const deadline = engine.clock.monotonic() + settings.waitMs;
  for (;;) {
    const state = await openSession(service, id);
    if (state.seq >= seq) return state;
    const leftMs = deadline - engine.clock.monotonic();
    if (leftMs <= 0 || service.isStopping) throw new Problem("seq_ahead", `The session is at seq ${state.seq}, not yet at ${seq}.`, { headers: { "retry-after": "1" } });
    // What lies between wakes nobody: a session's every record would begin the wait anew.
    const until = (next: SessionState): boolean => next.seq >= seq || service.isStopping;
    await nextChange(engine, state.sessionId, { maxMs: leftMs, since: state, until });
  }
}

/** The status as every read model holds it, byte for byte. */
export function statusText(state: SessionState): string {
  return canonicalJson(statusOf(state));
}
