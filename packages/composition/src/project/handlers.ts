/** The handlers of this process: the project's, and beside them the commands of an ad-hoc `run`. */
import { existsSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import type { HandlersConfigInput } from "@loopledger/handlers/builders";
import type { Handlers } from "@loopledger/shared/ports";
import { sessionFolder } from "@loopledger/shared/blobs";
import type { EnginePlace, HandlerPorts } from "../engine/engine-options.ts";
import { ownPlaces } from "../ports/data-folder.ts";
import { UsageError } from "../refusals.ts";
import { namedBlobs } from "../settings/file-url.ts";
import type { Project } from "./project-shape.ts";

/** Commands that were typed, by the names under which a goal finds them. Their names start with `run/`. */
export interface AdHoc {
  readonly makers: Readonly<Record<string, object>>;
  readonly checks: Readonly<Record<string, object>>;
  /** Globs that every check pins. */
  readonly protect: readonly string[];
}

/**
 * Makes the handlers when the engine's ports are there; the step server ends with the process. Throws `blobs_in_workspace` where the
 * folder of the blobs is the very one that is worked in.
 */
export function handlersOf(place: EnginePlace, project: Project, adHoc?: AdHoc): (ports: HandlerPorts) => Promise<Handlers> {
  const blobsFolder = namedBlobs(place.environment.variables);
  if (blobsFolder !== null) refuseBlobsAmongWork(blobsFolder, project);
  return async ({ blobs, clock, log, supervision }) => {
    const [{ makeHandlers }, { startStepServer }] = await Promise.all([
      import("@loopledger/handlers/registry"), import("@loopledger/handlers/steps/server"),
    ]);
    const { makers, checks, tools } = project.written;
    const config = { makers: { ...makers, ...adHoc?.makers }, checks: { ...checks, ...adHoc?.checks }, tools: { ...tools } } as HandlersConfigInput;
    return makeHandlers(config, {
      folder: project.folder,
      environment: place.environment.variables,
      sessionFolder: (sessionId) => join(place.dataFolder, "runs", sessionFolder(sessionId)),
      blobs,
      steps: await startStepServer({ log, part: supervision?.part("steps") }),
      binFolder: binFolder(),
      dataFolder: place.dataFolder,
      // Payloads inside a workspace are none of its work: each would move its revision.
      ownPlaces: () => [...ownPlaces(place.dataFolder), ...(blobsFolder === null ? [] : [blobsFolder])],
      protect: adHoc?.protect,
      tell: onceEach((sentence) => log.warn(sentence)),
      now: () => clock.now(),
    });
  };
}

/** A revision is taken around every check: what makes it slow is told once. */
function onceEach(tell: (sentence: string) => void): (sentence: string) => void {
  const told = new Set<string>();
  return (sentence) => {
    if (!told.has(sentence)) tell(sentence);
    told.add(sentence);
  };
}

/** Inside a workspace a folder of blobs is left out of its revision; where it is the workspace itself, nothing would be left. */
function refuseBlobsAmongWork(blobsFolder: string, { folder, handlers: { makers, checks } }: Project): void {
  const worked = [...Object.values(makers), ...Object.values(checks)].map((one) => resolve(folder, one.kind === "exec" ? (one.cwd ?? ".") : "."));
  if (![folder, ...worked].some((one) => realPlace(one) === realPlace(blobsFolder))) return;
  throw new UsageError(`LOOPLEDGER_BLOBS_URL: ${blobsFolder} is a folder that makers and checks work in, and each payload would change its revision.`, {
    code: "blobs_in_workspace", next: "Name a folder of their own, such as the folder `blobs` beside or inside it.",
  });
}
function realPlace(path: string): string {
  return existsSync(path) ? realpathSync(path) : resolve(path);
}

/** PATH, as the commands of this process get it. */
export async function commandsPath(variables: Readonly<Record<string, string | undefined>>): Promise<string> {
  const { searchPath } = await import("@loopledger/handlers/exec/environment");
  return searchPath(variables, binFolder());
}

/** The checkout's `bin`, so that a maker finds the same `loopledger` that runs it. */
function binFolder(): string | undefined {
  const folder = resolve(import.meta.dirname, "../../../../bin");
  return existsSync(join(folder, "loopledger")) ? folder : undefined;
}

/** The longest step that any handler of the project may take, in ms: what a silent owner is given before it counts as gone. */
export function stepLimitMs(project: Project): (owner: { readonly role: "worker" | "checker" }) => number {
  const longest = (handlers: readonly { readonly timeoutSeconds?: number | undefined }[], otherwise: number): number =>
    Math.max(otherwise, ...handlers.map((one) => one.timeoutSeconds ?? 0)) * 1000;
  const limits = {
    worker: longest(Object.values(project.handlers.makers), 3_600),
    checker: longest(Object.values(project.handlers.checks), 600),
  };
  return (owner) => limits[owner.role];
}
