/** A real Redis on loopback: the one on PATH, else one from Debian's packages, unpacked without root. */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { cached } from "./cache.ts";
import { InfraError } from "./infra-error.ts";
import { findOnPath, type Variables } from "./java.ts";
import { startDetached, waitReady } from "./part-process.ts";
import type { ProcessIdentity } from "./process-identity.ts";

export interface RedisOptions {
  readonly folder: string;
  readonly port: number;
  readonly variables: Variables;
  readonly tell: (text: string) => void;
  /** Whether what was written is there after a restart (default true); tests may want a server that forgets. */
  readonly keeps?: boolean;
  /** A second port, on which it speaks TLS. */
  readonly tls?: RedisTls;
}
export interface RedisTls {
  readonly port: number;
  /** PEM files; clients that show a certificate have to have one by the authority. */
  readonly certFile: string;
  readonly keyFile: string;
  readonly caFile: string;
  /** Whether clients have to show one. */
  readonly asksClients: boolean;
}

interface Program {
  readonly path: string;
  /** Where its shared libraries are, where they are not the system's. */
  readonly libraries: string | null;
}

const missing = "Install Redis (Debian: apt-get install redis-server; macOS: brew install redis), or use one of your own: LOOPLEDGER_REDIS_URL.";

export async function findRedis({ variables, tell }: Pick<RedisOptions, "variables" | "tell">): Promise<Program> {
  const onPath = findOnPath("redis-server", variables);
  if (onPath !== null) return { path: onPath, libraries: null };
  if (findOnPath("apt-get", variables) === null || findOnPath("dpkg-deb", variables) === null) {
    throw new InfraError("redis_missing", "There is no redis-server on the PATH.", { next: missing });
  }
  const folder = await cached("redis-debian", variables, (target) => unpackDebian(target, { variables, tell }));
  const libraries = readdirSync(join(folder, "usr", "lib")).map((name) => join(folder, "usr", "lib", name)).join(":");
  return { path: join(folder, "usr", "bin", "redis-server"), libraries };
}

/** The packages that hold the program and the libraries that it needs. */
async function unpackDebian(folder: string, { variables, tell }: Pick<RedisOptions, "variables" | "tell">): Promise<void> {
  tell("fetching Redis from Debian's packages (once per user)");
  const run = async (program: string, ...args: string[]): Promise<string> => (await promisify(execFile)(program, args, { cwd: folder, env: { ...variables } })).stdout;
  try {
    const listed = await run("apt-cache", "depends", "--no-recommends", "--no-suggests", "--no-conflicts", "--no-breaks", "--no-replaces", "--no-enhances", "redis-tools");
    const needed = [...listed.matchAll(/^ +Depends: ([a-z0-9.+-]+)$/gm)].map(([, name = ""]) => name).filter((name) => name.startsWith("lib") && name !== "libc6");
    await run("apt-get", "download", "redis-server", "redis-tools", ...needed);
    for (const name of readdirSync(folder).filter((one) => one.endsWith(".deb"))) await run("dpkg-deb", "-x", name, ".");
  } catch (error) {
    throw new InfraError("redis_missing", "There is no redis-server on the PATH, and Debian's packages could not be fetched.", { next: missing, cause: error });
  }
  if (!existsSync(join(folder, "usr", "bin", "redis-server"))) throw new InfraError("redis_missing", "Debian's packages held no redis-server.", { next: missing });
}

export async function startRedis({ folder, port, variables, tell, keeps = true, tls }: RedisOptions): Promise<ProcessIdentity> {
  const { path, libraries } = await findRedis({ variables, tell });
  const data = join(folder, "redis");
  mkdirSync(data, { recursive: true });
  const args = ["--bind", "127.0.0.1", "--port", String(port), "--dir", data, "--maxmemory-policy", "noeviction", "--save", "", "--appendonly", keeps ? "yes" : "no", "--daemonize", "no", ...(tls ? tlsWords(tls) : [])];
  return startDetached({
    program: path, args, folder, log: redisLog(folder),
    variables: libraries === null ? variables : { ...variables, LD_LIBRARY_PATH: libraries },
  });
}

function tlsWords({ port, certFile, keyFile, caFile, asksClients }: RedisTls): string[] {
  return ["--tls-port", String(port), "--tls-cert-file", certFile, "--tls-key-file", keyFile, "--tls-ca-cert-file", caFile, "--tls-auth-clients", asksClients ? "yes" : "optional"];
}

function redisLog(folder: string): string {
  return join(folder, "redis.log");
}

export function waitRedisReady({ folder, port, process }: { readonly folder: string; readonly port: number; readonly process: ProcessIdentity }): Promise<void> {
  return waitReady({ name: "redis", process, log: redisLog(folder), isReady: async () => (await askRedis(port, "PING")) === "+PONG", limitMs: 60_000 });
}

/** One inline command by hand, and the first line of its answer: a client would bring its own patience. Rejects where none comes in 2 s. */
export function askRedis(port: number, command: string): Promise<string> {
  return new Promise((done, fail) => {
    const socket = new Socket();
    const end = (result: () => void): void => {
      socket.destroy();
      result();
    };
    socket.setTimeout(2_000, () => end(() => fail(new Error(`Redis on port ${port} does not answer.`))));
    socket.once("error", (error) => end(() => fail(error)));
    socket.once("close", () => fail(new Error(`Redis on port ${port} closed the connection.`)));
    socket.once("data", (answer) => end(() => done(answer.toString("utf8").split("\r\n")[0] ?? "")));
    socket.connect(port, "127.0.0.1", () => socket.write(`${command}\r\n`));
  });
}
