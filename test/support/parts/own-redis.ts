/** A Redis of a test's own, which it may kill, pause and start again. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { adopt } from "@loopledger/infra/launcher";
import { holdProcess, killProcess, type ProcessIdentity } from "@loopledger/infra/process-identity";
import { startRedis, waitRedisReady } from "@loopledger/infra/redis";
import type { Certificate } from "./certificates.ts";
import { ownPorts } from "./own-ports.ts";
import { currentRun } from "./run.ts";

export interface OwnRedis {
  readonly url: string;
  readonly port: number;
  /** With `tls`: the port on which it is spoken, else 0. */
  readonly tlsPort: number;
  kill(): Promise<void>;
  pause(): void;
  resume(): void;
  /** Starts it again on its port; what it held is there where it `keeps`. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface OwnRedisTls {
  readonly identity: Certificate;
  /** Whose certificates clients may show (PEM text). */
  readonly ca: string;
  readonly asksClients?: boolean;
}

/** `keeps` (default false): what was written is there after a restart. */
export async function ownRedis({ keeps = false, tls: wanted }: { readonly keeps?: boolean; readonly tls?: OwnRedisTls } = {}): Promise<OwnRedis> {
  const folder = mkdtempSync(join(currentRun().folder, "redis-"));
  const [port = 0, tlsPort = 0] = await ownPorts(wanted ? 2 : 1);
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const tls = wanted && {
    port: tlsPort, certFile: file("cert.pem", wanted.identity.cert), keyFile: file("key.pem", wanted.identity.key), caFile: file("ca.pem", wanted.ca), asksClients: wanted.asksClients ?? false,
  };
  const start = async (): Promise<ProcessIdentity> => {
    const started = await startRedis({ folder, port, keeps, ...(tls && { tls }), variables: process.env, tell: () => undefined });
    await adopt({ ...currentRun(), variables: process.env }, [started]);
    await waitRedisReady({ folder, port, process: started });
    return started;
  };
  let running = await start();
  return {
    port, tlsPort, url: `redis://127.0.0.1:${port}`,
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
