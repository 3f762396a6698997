/** What is known of a project, and the project of a folder that has none. */
import type { HandlersConfig } from "@loopledger/handlers/config/handlers-config";

export interface Project {
  /** Absolute folder that relative paths of the config stand on. */
  readonly folder: string;
  /** The config's file; null = there is none. */
  readonly path: string | null;
  readonly prepare: Prepare | null;
  readonly handlers: HandlersConfig;
  /** The same as the file says it, for `makeHandlers`. */
  readonly written: { readonly makers?: object; readonly checks?: object; readonly tools?: object };
}
/** A program that runs before the first step, in the config's folder. */
export interface Prepare {
  readonly exec: readonly string[];
  readonly timeoutSeconds?: number | undefined;
}

/** The project of a folder without a config: it can run nothing. */
export function noProject(folder: string): Project {
  return { folder, path: null, prepare: null, handlers: { makers: {}, checks: {}, tools: {} }, written: {} };
}
