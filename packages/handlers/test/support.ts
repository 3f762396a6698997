import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemoryBlobs } from "@loopledger/shared/memory";
import type { Blobs } from "@loopledger/shared/ports";
import { onTestFinished } from "vitest";
import type { HandlersConfigInput } from "../src/builders.ts";
import type { HandlersDeps } from "../src/deps.ts";
import { makeHandlers } from "../src/registry.ts";
import { startStepServer } from "../src/steps/server.ts";

export * from "./tasks.ts";

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "loopledger-handlers-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export interface Workbench extends HandlersDeps {
  readonly sessionPath: string;
  make(config: HandlersConfigInput): ReturnType<typeof makeHandlers>;
}
export async function workbench(changes: Partial<HandlersDeps> & { blobs?: Blobs } = {}): Promise<Workbench> {
  const folder = await temporaryFolder();
  const steps = await startStepServer();
  onTestFinished(() => steps.close());
  const sessionPath = join(folder, ".loopledger", "sessions", "one");
  const deps: HandlersDeps = {
    folder, environment: { PATH: process.env["PATH"], HOME: folder }, sessionFolder: () => sessionPath,
    blobs: createMemoryBlobs(), steps, dataFolder: join(folder, ".loopledger"), ...changes,
  };
  return { ...deps, sessionPath, make: (config) => makeHandlers(config, deps) };
}

export const fixture = (name: string) => join(import.meta.dirname, "fixtures", name);

export const running = (signal: AbortSignal = new AbortController().signal) => ({ signal });
