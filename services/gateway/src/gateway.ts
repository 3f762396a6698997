/**
 * The gateway: the API of the ledger over HTTP, for programs on this machine.
 *
 * G1. It decides nothing. What is asked becomes a record; what the fold says of it is the answer.
 * G2. Sessions are read from the folds, exactly; lists from the views.
 * G3. It listens on this machine's own addresses only.
 */
import type { AddressInfo } from "node:net";
import { LoopledgerError } from "@loopledger/shared/core/errors";
import type { Engine } from "@loopledger/shared/runtime";
import { buildApp } from "./app.ts";
import { Counters } from "./counters.ts";
import { Feed } from "./feed.ts";
import { isLoopback } from "./guard.ts";
import { type App, type GatewayOptions, type Service, settingsOf } from "./service.ts";

export type { GatewayOptions } from "./service.ts";
export interface ListenOptions extends GatewayOptions {
  /** 0 takes any free one. */
  readonly port: number;
  /** An address of this machine that no other reaches (default 127.0.0.1). */
  readonly host?: string;
}
export interface Gateway {
  readonly url: string;
  readonly port: number;
  /** Ends streams in order, answers what is under way, closes. */
  stop(): Promise<void>;
}
export interface Built {
  readonly app: App;
  readonly service: Service;
  stop(): Promise<void>;
}

/** The gateway without a socket. The engine's folds follow every session; they are started here where nobody has. */
export async function buildGateway(engine: Engine, options: GatewayOptions = {}): Promise<Built> {
  if (!engine.folds.complete) throw new TypeError("A gateway needs folds that follow every session.");
  if (!engine.folds.following) await engine.folds.start(await engine.ledger.end());
  const settings = settingsOf(options);
  const service: Service = {
    engine, settings, feed: new Feed(engine, settings.window), counters: new Counters(), streams: new Set(), bookmarks: new Map(), isStopping: false,
  };
  const app = buildApp(service);
  await app.ready();
  const stopBeating = beat(service);
  const stop = async (): Promise<void> => {
    service.isStopping = true;
    stopBeating();
    for (const stream of service.streams) stream.close();
    await app.close();
    service.feed.close();
  };
  return { app, service, stop };
}

/** Listens. Throws `address_refused` for an address that others reach, and `address_in_use`. */
export async function startGateway(engine: Engine, options: ListenOptions): Promise<Gateway> {
  const host = options.host ?? "127.0.0.1";
  if (!isLoopback(host)) throw new LoopledgerError("address_refused", `${host} can be reached by others.`);
  const { app, stop } = await buildGateway(engine, options);
  try {
    await app.listen({ port: options.port, host });
  } catch (error) {
    await stop();
    const taken = (error as NodeJS.ErrnoException).code === "EADDRINUSE";
    throw taken ? new LoopledgerError("address_in_use", `Port ${options.port} is taken by another process.`, { cause: error }) : error;
  }
  // A socket that could not be taken, say: the others are served, and it counts as working again after a while without another.
  const part = engine.supervision.part("gateway.server");
  app.server.on("error", (error) => void part.again(error, () => undefined));
  const { port } = app.server.address() as AddressInfo;
  return { url: `http://${host === "::1" ? "[::1]" : host}:${port}`, port, stop };
}

/** A comment to every stream now and then, so that what lies between keeps the connection. */
function beat({ engine, settings, streams }: Service): () => void {
  const part = engine.supervision.part("gateway.keepalive");
  let cancel = (): void => undefined;
  const arm = (): void => {
    cancel = part.after(settings.keepAliveMs, () => {
      for (const stream of streams) stream.keepAlive();
      arm();
    });
  };
  arm();
  return () => cancel();
}
