/**
 * What a `loopledger.config.ts` imports from "loopledger".
 *
 *   import { defineConfig, exec } from "loopledger";
 *   export default defineConfig({ makers: { agent: exec(["./agent.sh"]) }, checks: { tests: exec(["npm", "test"]) } });
 */
import type { ExecOptions, HttpTarget, ToolOptions } from "@loopledger/handlers/builders";
import type { CheckFunction, MakerFunction, ToolFunction } from "@loopledger/handlers/inline/functions";

export { exec, fn, http } from "@loopledger/handlers/builders";
export { StepRefused } from "@loopledger/handlers/inline/functions";
export type { ExecOptions, HttpTarget, ToolOptions } from "@loopledger/handlers/builders";
export type { CheckFunction, FnCheckTask, FnMakerTask, FnToolCall, MakerFunction, ToolFunction } from "@loopledger/handlers/inline/functions";

type Program = { readonly exec: readonly string[] | string };
type ProgramOptions = Pick<ExecOptions, "cwd" | "env" | "shell" | "timeoutSeconds">;
type Limit = Pick<ExecOptions, "timeoutSeconds">;
type MakerOptions = Pick<ExecOptions, "effects">;
type CheckOptions = Pick<ExecOptions, "pin">;

/** Changes the work: a program, a web service or a function of this process. */
export type MakerConfig =
  | (Program & ProgramOptions & MakerOptions & Pick<ExecOptions, "idleSeconds" | "stdin">)
  | ({ readonly http: HttpTarget } & MakerOptions & Limit)
  | ({ readonly fn: MakerFunction } & MakerOptions & Limit);
/** Judges the work. */
export type CheckConfig =
  | (Program & ProgramOptions & CheckOptions & Pick<ExecOptions, "idleSeconds">)
  | ({ readonly http: HttpTarget } & CheckOptions & Limit)
  | ({ readonly fn: CheckFunction } & CheckOptions & Limit);
/** An effect on the world, recorded, fenced and approved. */
export type ToolConfig =
  | (Program & ProgramOptions & ToolOptions)
  | ({ readonly http: HttpTarget } & ToolOptions)
  | ({ readonly fn: ToolFunction } & ToolOptions);

export interface ProjectConfig {
  /** Run once by `dev`, `run` and `serve` before the first step; must leave with 0. Its folder is the config's own. */
  readonly prepare?: { readonly exec: readonly string[]; readonly timeoutSeconds?: number };
  readonly makers?: Readonly<Record<string, MakerConfig>>;
  readonly checks?: Readonly<Record<string, CheckConfig>>;
  readonly tools?: Readonly<Record<string, ToolConfig>>;
}

/** Gives the config back as it is, with its types known to the editor. */
export function defineConfig<const C extends ProjectConfig>(config: C): C {
  return config;
}
