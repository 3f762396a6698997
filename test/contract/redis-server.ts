/** A Redis of a test's own, to be stopped, killed and emptied, and ways to look into one from outside. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { until } from "../support/until.ts";
import { makeFolder } from "./folder.ts";
import { connectOutside, type Outside } from "./resp.ts";

export const silent = { warn: () => undefined };

export async function removeKeys(url: string, pattern: string): Promise<void> {
  const outside = await connectOutside(url);
  for (let cursor = "0"; ; ) {
    const [next, keys] = (await outside.send("SCAN", cursor, "MATCH", pattern, "COUNT", 1_000)) as [string, string[]];
    if (keys.length > 0) await outside.send("UNLINK", ...keys);
    if (next === "0") break;
    cursor = next;
  }
  outside.close();
}

export interface RedisServer {
  readonly url: string;
  /** One command from outside, on a connection of its own. */
  send(...words: readonly (string | number)[]): Promise<unknown>;
  signal(name: "SIGSTOP" | "SIGCONT"): void;
  /** As a crash would end it. */
  kill(): Promise<void>;
  /** Starts it anew on the same port, with what was saved. */
  start(...options: string[]): Promise<void>;
  close(): Promise<void>;
}

/** Starts a server on a free port; it is there when this resolves. `options` are those of its command line. */
export async function startRedis(...options: string[]): Promise<RedisServer> {
  const folder = makeFolder();
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  let child: ChildProcess | null = null;
  const send: RedisServer["send"] = async (...words) => {
    const outside: Outside = await connectOutside(url);
    return outside.send(...words).finally(() => outside.close());
  };
  const kill = async (): Promise<void> => {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGCONT");
    child.kill("SIGKILL");
    await gone;
  };
  const start = async (...more: string[]): Promise<void> => {
    child = spawn("redis-server", [
      "--port", String(port), "--bind", "127.0.0.1", "--dir", folder.path, "--save", "", "--maxmemory-policy", "noeviction", ...more,
    ], { stdio: "ignore" });
    await until(async () => (await send("PING")) === "PONG", { what: "redis-server to answer", timeoutMs: 30_000 });
  };
  await start(...options);
  return {
    url, send, kill, start,
    signal: (name) => void child?.kill(name),
    close: async () => {
      await kill();
      folder.remove();
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer();
    server.on("error", fail);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => (address !== null && typeof address === "object" ? done(address.port) : fail(new Error("no port"))));
    });
  });
}
