import type { Json } from "@loopledger/shared/core/json";
import type { CheckFunction, MakerFunction, ToolFunction } from "./inline/functions.ts";

/** Options that stand beside `exec`; which of them fit depends on whether it is a maker, a check or a tool. */
export interface ExecOptions {
  /** Folder to run in, relative to the config's own. */
  readonly cwd?: string;
  /** Names of further environment variables to hand on. */
  readonly env?: readonly string[];
  readonly timeoutSeconds?: number;
  readonly idleSeconds?: number;
  /** Hands the one string to `/bin/sh -c`. */
  readonly shell?: boolean;
  readonly stdin?: "json" | "prompt";
  readonly effects?: "workspace" | "external";
  readonly pin?: readonly string[];
}
export interface HttpTarget {
  readonly url: string;
  /** Values may hold `{env:NAME}`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutSeconds?: number;
}
/** What a tool says about its effect. */
export interface ToolOptions {
  readonly contract?: "none" | "idempotent" | "lookup" | "unsafe";
  readonly lookup?: HttpTarget | ToolFunction;
  readonly fences?: boolean;
  readonly callWindowSeconds?: number;
  readonly approval?: "before";
  readonly key?: (args: Json) => string;
  readonly mutates?: boolean;
  readonly timeoutSeconds?: number;
}

/** A program: `exec(["npm", "test"], { pin: ["test/**"] })` is `{ exec: ["npm", "test"], pin: ["test/**"] }`. */
export function exec<const O extends ExecOptions & ToolOptions>(argv: readonly string[] | string, options?: O) {
  return { exec: argv, ...(options as O) };
}

/** A web service: POST of the input as JSON. */
export function http<const O extends Omit<ToolOptions, "timeoutSeconds"> & Pick<ExecOptions, "effects" | "pin">>(target: HttpTarget, options?: O) {
  return { http: target, ...(options as O) };
}

/** A function inside the worker's own process. */
export function fn<F extends MakerFunction | CheckFunction | ToolFunction, const O extends ToolOptions & Pick<ExecOptions, "effects" | "pin">>(
  call: F, options?: O,
) {
  return { fn: call, ...(options as O) };
}
