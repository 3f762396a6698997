/** A Redis of a test's own, which it may kill, pause and start again. */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { adopt } from "@loopledger/infra/launcher";
import { holdProcess, killProcess, type ProcessIdentity } from "@loopledger/infra/process-identity";
import { startRedis, waitRedisReady } from "@loopledger/infra/redis";
import { ownPorts } from "./own-ports.ts";
import { currentRun } from "./run.ts";

export interface OwnRedis {
  readonly url: string;
  readonly port: number;
  kill(): Promise<void>;
  pause(): void;
  resume(): void;
  /** Starts it again on its port; what it held is there where it `keeps`. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** `keeps` (default false): what was written is there after a restart. */
export async function ownRedis({ keeps = false }: { readonly keeps?: boolean } = {}): Promise<OwnRedis> {
  const folder = mkdtempSync(join(currentRun().folder, "redis-"));
  const [port = 0] = await ownPorts(1);
  const start = async (): Promise<ProcessIdentity> => {
    const started = await startRedis({ folder, port, keeps, variables: process.env, tell: () => undefined });
    await adopt({ ...currentRun(), variables: process.env }, [started]);
    await waitRedisReady({ folder, port, process: started });
    return started;
  };
  let running = await start();
  return {
    port, url: `redis://127.0.0.1:${port}`,
    kill: () => killProcess(running),
    pause: () => holdProcess(running, true),
    resume: () => holdProcess(running, false),
    restart: async () => {
      running = await start();
    },
    stop: async () => {
      await killProcess(running);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
