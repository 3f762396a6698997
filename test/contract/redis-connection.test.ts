/** What is sent on a connection to Redis, and how often, seen from a server that loses it, keeps silent, or turns out to be a copy. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createSystemClock } from "@loopledger/shared/system";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connectRedis, type RedisConnection } from "../../packages/shared/src/adapters/redis/connection.ts";
import { until } from "../support/until.ts";
import { silent } from "./redis-outside.ts";

/** An answer by the wire protocol; null for none, `lost` for the end of the connection in its place. */
type Answer = string | null | "lost";
const info = "redis_version:7.4.0\r\nloading:0\r\n";

let server: Server;
let port = 0;
let connections = 0;
/** Every command that came, with the number of the connection that it came on. */
let heard: string[] = [];
let answer: (command: string, connection: number) => Answer;
const sockets = new Set<Socket>();
let opened: RedisConnection[] = [];

/** The commands that are whole: arrays of texts, as every client sends them. */
function commandsOf(bytes: string): { readonly commands: readonly string[]; readonly rest: string } {
  const commands: string[] = [];
  let rest = bytes;
  for (let words = /^\*(\d+)\r\n/.exec(rest); words !== null; words = /^\*(\d+)\r\n/.exec(rest)) {
    const whole = new RegExp(`^\\*\\d+\\r\\n((?:\\$\\d+\\r\\n[^\\r]*\\r\\n){${words[1]}})`).exec(rest);
    if (whole === null) break;
    commands.push([...(whole[1] ?? "").matchAll(/\$\d+\r\n([^\r]*)\r\n/g)].map(([, word]) => word).join(" "));
    rest = rest.slice(whole[0].length);
  }
  return { commands, rest };
}
function serve(socket: Socket): void {
  const number = ++connections;
  let rest = "";
  sockets.add(socket);
  socket.on("error", () => socket.destroy()).on("close", () => sockets.delete(socket));
  socket.on("data", (chunk) => {
    const read = commandsOf(rest + chunk.toString("latin1"));
    rest = read.rest;
    for (const command of read.commands) {
      heard.push(`${number} ${command}`);
      const said = /^info/i.test(command) ? `$${info.length}\r\n${info}\r\n` : /^client/i.test(command) ? "+OK\r\n" : answer(command, number);
      if (said === "lost") socket.destroy();
      else if (said !== null) socket.write(said);
    }
  });
}
async function listen(at: number): Promise<void> {
  server = createServer(serve).listen(at, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
}
async function shut(): Promise<void> {
  const closed = once(server, "close");
  server.close();
  for (const socket of sockets) socket.destroy();
  await closed;
}
const connect = async (): Promise<RedisConnection> => {
  const connection = connectRedis({ url: `redis://127.0.0.1:${port}`, clock: createSystemClock(), log: silent });
  opened.push(connection);
  expect(await connection.ready()).toBe(true);
  return connection;
};
const timesOf = (command: string): number => heard.filter((one) => one.endsWith(` ${command}`)).length;
const failure = (call: Promise<unknown>): Promise<unknown> => call.then(() => "answered", (error: unknown) => error);

beforeEach(async () => {
  connections = 0;
  heard = [];
  answer = () => "+OK\r\n";
  await listen(0);
});
afterEach(async () => {
  for (const one of opened) one.close();
  opened = [];
  await shut();
});

describe("a command to Redis", () => {
  it("whose connection is lost before its answer fails, and is not sent again on the next one", async () => {
    const { client } = await connect();
    answer = (command, connection) => (command === "set k v" && connection === 1 ? "lost" : "+OK\r\n");
    expect(await failure(client.set("k", "v"))).toBeInstanceOf(Error);
    await until(() => client.status === "ready" && connections > 1, { what: "the next connection" });
    await client.set("after", "v");
    expect([timesOf("set k v"), timesOf("set after v")]).toEqual([1, 1]);
  });

  it("fails at once while there is no connection, and is not kept for the next one", async () => {
    const connection = await connect();
    await shut();
    await until(() => connection.losses() > 0 && connection.client.status !== "ready", { what: "the connection to be lost" });
    const asked = failure(connection.client.set("k", "v"));
    await listen(port);
    expect(await asked).toBeInstanceOf(Error);
    await until(() => connection.client.status === "ready", { what: "the next connection" });
    await connection.client.set("after", "v");
    expect([timesOf("set k v"), timesOf("set after v")]).toEqual([0, 1]);
  });

  it("that is not answered fails in time, and a connection on which nothing is heard is given up for a new one", async () => {
    const { client } = await connect();
    answer = (_command, connection) => (connection === 1 ? null : "+OK\r\n");
    expect(await failure(client.set("k", "v"))).toMatchObject({ message: expect.stringContaining("timed out") });
    await until(async () => {
      await failure(client.set("again", "v"));
      return connections > 1;
    }, { what: "the silent connection to be given up" });
    await until(async () => (await failure(client.set("after", "v"))) === "answered", { what: "the next connection to answer" });
    expect(timesOf("set k v")).toBe(1);
  });

  it("that a copy refuses fails, and the address is connected to anew: it may lead to another server by now", async () => {
    const { client } = await connect();
    answer = (_command, connection) => (connection < 3 ? "-READONLY You can't write against a read only replica.\r\n" : "+OK\r\n");
    await until(async () => (await failure(client.set("k", "v"))) === "answered", { what: "a server that takes writes" });
    expect(connections).toBe(3);
  });
});
