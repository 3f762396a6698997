import type { Blobs } from "@loopledger/shared/ports";
import type { SessionId } from "@loopledger/shared/core/brand";
import type { StepServer } from "./steps/server.ts";

/** What handlers need of the process that runs them. */
export interface HandlersDeps {
  /** Absolute folder that relative paths of the config stand on: the project's. */
  readonly folder: string;
  /** The process's environment, read at its one edge. Handlers get an allow-list of it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Absolute folder of a session on this host, for the records of its supervisors and the files of its runs. It must be the same for every process of this host. */
  readonly sessionFolder: (sessionId: SessionId) => string;
  readonly blobs: Blobs;
  readonly steps: StepServer;
  /** Folder that holds the `loopledger` command; put first on PATH. */
  readonly binFolder?: string | undefined;
  /** The data folder, left out of revisions where it lies inside a workspace. */
  readonly dataFolder?: string | undefined;
  /** What the data folder holds of this program, where it is a workspace itself: that does not count in revisions either. */
  readonly ownPlaces?: (() => readonly string[]) | undefined;
  /** Globs that every check pins besides its own. */
  readonly protect?: readonly string[] | undefined;
  /** Hears in a sentence what takes long beside the programs themselves. */
  readonly tell?: ((sentence: string) => void) | undefined;
  /** Wall clock in ms, to turn `retryAt` into seconds. */
  readonly now?: (() => number) | undefined;
}
