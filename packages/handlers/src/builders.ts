import type { Json } from "@loopledger/shared/core/json";
import type { CheckFunction, LookFunction, MakerFunction, ToolFunction } from "./inline/functions.ts";

/** How a program is run. */
export interface ProgramOptions {
  /** Folder to run in, relative to the config's own. */
  readonly cwd?: string;
  /** Names of further environment variables to hand on. */
  readonly env?: readonly string[];
  readonly timeoutSeconds?: number;
  /** Hands the one string to `/bin/sh -c`. */
  readonly shell?: boolean;
}
export interface MakerOptions {
  /** `external`: it does more than change its workspace and use registered tools, so an unfinished run is never repeated by itself. */
  readonly effects?: "workspace" | "external";
  readonly timeoutSeconds?: number;
}
export interface CheckOptions {
  /** Files that the check's digest covers, relative to its folder. */
  readonly pin?: readonly string[];
  readonly timeoutSeconds?: number;
}
export interface HttpTarget {
  readonly url: string;
  /** Values may hold `{env:NAME}`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutSeconds?: number;
}
/** What a tool says about its effect. */
export interface ToolOptions {
  /** `unsafe` where nothing is said. */
  readonly contract?: "none" | "idempotent" | "lookup" | "unsafe";
  /** Where to ask what became of a key: an address with `{key}`, or a function. */
  readonly lookup?: HttpTarget | LookFunction | { readonly fn: LookFunction };
  /** The target stores the look's epoch and refuses lower ones. */
  readonly fences?: boolean;
  readonly callWindowSeconds?: number;
  readonly approval?: "before";
  readonly key?: (args: Json) => string;
  /** True unless the contract is `none`. */
  readonly mutates?: boolean;
  readonly timeoutSeconds?: number;
}
type Program = ProgramOptions & { readonly exec: readonly string[] | string };
interface Http {
  readonly http: HttpTarget;
}
export type MakerInput = MakerOptions & ((Program & { readonly idleSeconds?: number; readonly stdin?: "json" | "prompt" }) | Http | { readonly fn: MakerFunction });
export type CheckInput = CheckOptions & ((Program & { readonly idleSeconds?: number }) | Http | { readonly fn: CheckFunction });
export type ToolInput = ToolOptions & (Program | Http | { readonly fn: ToolFunction });
/** The handlers of `loopledger.config.*` as an operator writes them. */
export interface HandlersConfigInput {
  readonly makers?: Readonly<Record<string, MakerInput>>;
  readonly checks?: Readonly<Record<string, CheckInput>>;
  readonly tools?: Readonly<Record<string, ToolInput>>;
}
type AllOptions = ProgramOptions & MakerOptions & CheckOptions & ToolOptions & { readonly idleSeconds?: number; readonly stdin?: "json" | "prompt" };

/** A program: `exec(["npm", "test"], { pin: ["test/**"] })` is `{ exec: ["npm", "test"], pin: ["test/**"] }`. */
export function exec<const O extends AllOptions>(argv: readonly string[] | string, options?: O) {
  return { exec: argv, ...(options as O) };
}

/** A web service: POST of the input as JSON. */
export function http<const O extends MakerOptions & CheckOptions & ToolOptions>(target: HttpTarget, options?: O) {
  return { http: target, ...(options as O) };
}

/** A function inside the worker's own process. */
export function fn<F extends MakerFunction | CheckFunction | ToolFunction, const O extends MakerOptions & CheckOptions & ToolOptions>(
  call: F, options?: O,
) {
  return { fn: call, ...(options as O) };
}
