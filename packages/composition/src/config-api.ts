/**
 * What a `loopledger.config.ts` imports from "loopledger".
 *
 *   import { defineConfig, exec } from "loopledger";
 *   export default defineConfig({ makers: { agent: exec(["./agent.sh"]) }, checks: { tests: exec(["npm", "test"]) } });
 */
import type { HandlersConfigInput } from "@loopledger/handlers/builders";

export { exec, fn, http } from "@loopledger/handlers/builders";
export type { CheckInput, HttpTarget, MakerInput, ToolInput } from "@loopledger/handlers/builders";
export { StepRefused } from "@loopledger/handlers/inline/functions";
export type { CheckFunction, FnCheckTask, FnMakerTask, FnToolCall, LookFunction, MakerFunction, ToolFunction } from "@loopledger/handlers/inline/functions";

/** Makers, checks and tools by the names that goals call them. */
export interface ProjectConfig extends HandlersConfigInput {
  /** Run by `dev`, `run`, `advance` and `serve` before the first step; must leave with 0. It runs in the config's folder. */
  readonly prepare?: { readonly exec: readonly string[]; readonly timeoutSeconds?: number };
}

/** Gives the config back as it is, with its types known to the editor. */
export function defineConfig<const C extends ProjectConfig>(config: C): C {
  return config;
}
