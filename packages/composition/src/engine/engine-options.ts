/** What a process asks of the engine that it is given, and what it gets. */
import type { SessionId } from "@loopledger/shared/core/brand";
import type { Blobs, Clock, Handlers, Ledger, Positions, ReadModel } from "@loopledger/shared/ports";
import type { Engine, Log, LogLevel, Supervision } from "@loopledger/shared/runtime";
import type { Variables } from "../environment.ts";
import type { AppendTimes } from "../process/figures.ts";

/** Where a process works and what its environment says. */
export interface EnginePlace {
  /** Absolute. */
  readonly dataFolder: string;
  readonly environment: { readonly variables: Variables };
}

export interface EngineOptions {
  /** What this process can run; left out by commands that read or act. */
  readonly handlers?: (ports: HandlerPorts) => Promise<Handlers>;
  /** Sessions to follow; all where it is left out. */
  readonly only?: (sessionId: SessionId) => boolean;
  /** The command writes nothing: a data folder without a ledger stays as it is and reads as empty. */
  readonly reads?: boolean;
  /** Folds that do not follow the tail: enough to read sessions once. */
  readonly still?: boolean;
  /** Folds that know every session that is alive: seeded from the views' snapshots, then caught up from where those end. */
  readonly history?: boolean;
  /** Open the read models too. */
  readonly views?: boolean;
  /** Where they cannot be reached now, it goes on without: the sessions are read from the ledger's beginning. */
  readonly viewsMayBeAway?: boolean;
  /** Appends are timed: the process shows figures. */
  readonly times?: boolean;
  /** What a person who watches is told, in place of a log for machines. */
  readonly spoken?: Log;
  /** From which level on the log speaks where LOOPLEDGER_LOG_LEVEL says nothing (default `warn`). */
  readonly logLevel?: LogLevel;
  /** What every line of the log says beside the process, such as its role. */
  readonly logBindings?: Readonly<Record<string, unknown>>;
}
/** What handlers need before there is an engine. */
export interface HandlerPorts {
  readonly blobs: Blobs;
  readonly clock: Clock;
  readonly log: Log;
  /** Of the process; left out where nothing tells of its readiness. */
  readonly supervision?: Supervision;
}
export interface OpenEngine {
  readonly engine: Engine;
  readonly ledger: Ledger;
  readonly views: ReadModel | null;
  /** How long appends take; null where nobody asked. */
  readonly appends: AppendTimes | null;
  /** The ledger's end when it was opened: what is later is new. */
  readonly startedAt: Positions;
  /** Closes folds and ports; what was appended is on the ledger. */
  close(): Promise<void>;
}
