/**
 * The roles that a process may have, and how each is made. This package knows no service: whoever composes hands the makers in, a
 * service's main its own one, the command line all that were asked for.
 */
import type { Goal } from "@loopledger/shared/core/events/goal";
import type { CycleRunner, Engine, Family, Scheduler } from "@loopledger/shared/runtime";

export const roleNames = ["scheduler", "worker", "checker", "projector", "gateway", "intake"] as const;
export type RoleName = (typeof roleNames)[number];

/** Gets what a running maker or check prints. */
export type Live = (sessionId: string, source: "maker" | "check", chunk: Uint8Array) => void;

/** Something that runs beside the crew. */
export interface Beside {
  /** It does its work now. */
  ready(): boolean;
  /** Resolves when it has ended: with the reason where it does not go on, with null where it was stopped. */
  readonly over: Promise<Error | null>;
  stop(): Promise<void>;
  /** Figures of its own. */
  figures?(): readonly Family[];
}
/** What answers over HTTP. */
export interface Listener {
  readonly port: number;
  stop(): Promise<void>;
}
export interface Listening {
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  /** Who acts, for as long as nobody has to prove who they are. */
  readonly principal: string;
  /** What does not take work now, by name; empty = ready. */
  readonly unready: () => Promise<readonly string[]>;
  /** Figures of the process in Prometheus text. */
  readonly figures: () => Promise<string>;
}

/** What the intake is told of the project: which handlers of a goal it does not have; nothing where no project is known. */
export interface Taking {
  readonly missingHandlers: (goal: Goal) => readonly string[];
}

type MakeRunner = (engine: Engine, options: { readonly live?: Live }) => CycleRunner;

/** The makers of the roles that a process has. `gateway` makes what listens in place of the plain health endpoint. */
export interface Roles {
  readonly scheduler?: (engine: Engine) => Scheduler;
  readonly worker?: MakeRunner;
  readonly checker?: MakeRunner;
  readonly projector?: (engine: Engine) => Promise<Beside>;
  readonly intake?: (engine: Engine, taking: Taking) => Promise<Beside>;
  readonly gateway?: (engine: Engine, listening: Listening) => Promise<Listener>;
}
