/** What the gateway's tests share: a gateway on a place of its own, short ways to ask it, and a client of its streams. */
import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, get } from "node:http";
import { afterEach } from "vitest";
import type { Engine } from "@loopledger/shared/runtime";
import { type Place, memoryPlace } from "../support/walks.ts";
import { until } from "../support/until.ts";
import { type Built, type Gateway, type ListenOptions, buildGateway, startGateway } from "../../services/gateway/src/gateway.ts";
import type { GatewayOptions } from "../../services/gateway/src/service.ts";

const cleanUp: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of cleanUp.splice(0).reverse()) await close();
});
export function opened(place: Place): Place {
  cleanUp.push(() => place.close());
  return place;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** The body as JSON. */
  readonly json: never;
}
export interface Asked {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}
export interface Asking {
  readonly engine: Engine;
  readonly built: Built;
  get(url: string, asked?: Asked): Promise<Answer>;
  post(url: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  ask(method: string, url: string, asked?: Asked): Promise<Answer>;
}

/** A gateway without a socket. */
export async function asking(options: GatewayOptions & { readonly place?: Place; readonly engine?: Engine } = {}): Promise<Asking> {
  const { place, engine: given, ...settings } = options;
  const engine = given ?? (await (place ?? opened(memoryPlace())).join());
  const built = await buildGateway(engine, settings);
  cleanUp.push(() => built.stop());
  const ask = async (method: string, url: string, { body, headers }: Asked = {}): Promise<Answer> => {
    const answer = await built.app.inject({ method: method as "GET", url, ...(body !== undefined && { payload: body as string }), ...(headers && { headers: { ...headers } }) });
    const isJson = String(answer.headers["content-type"]).includes("json");
    return { status: answer.statusCode, headers: answer.headers, text: answer.body, json: (isJson ? JSON.parse(answer.body) : null) as never };
  };
  return { engine, built, ask, get: (url, asked) => ask("GET", url, asked), post: (url, body, headers) => ask("POST", url, { body, ...(headers && { headers }) }) };
}
/** A gateway that listens. */
export async function listening(engine: Engine, options: Partial<ListenOptions> = {}): Promise<Gateway> {
  const gateway = await startGateway(engine, { port: 0, ...options });
  cleanUp.push(() => gateway.stop());
  return gateway;
}

export interface StreamEvent {
  readonly id: string;
  readonly data: { readonly sessionId: string; readonly seq: number; readonly type: string };
}
export interface StreamClient {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly events: readonly StreamEvent[];
  readonly comments: readonly string[];
  /** The problem document, where there is no stream. */
  readonly problem: { readonly code: string; readonly detail: string; readonly next: string } | null;
  readonly isOver: boolean;
  readonly lastId: string | undefined;
  has(count: number): Promise<readonly StreamEvent[]>;
  /** Stops reading; the socket stays open. */
  pause(): void;
  resume(): void;
  close(): void;
}

/** Opens a stream, as a program would that knows nothing of the gateway's insides. */
export async function streaming(url: string, options: { readonly lastEventId?: string } = {}): Promise<StreamClient> {
  const headers = options.lastEventId === undefined ? {} : { "last-event-id": options.lastEventId };
  let request: ClientRequest;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request = get(url, { headers, agent: false }, resolve).on("error", reject);
  });
  const events: StreamEvent[] = [];
  const comments: string[] = [];
  let text = "";
  let isOver = false;
  const take = (frame: string): void => {
    const lines = frame.split("\n");
    const field = (name: string): string | undefined => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
    const data = field("data");
    if (data !== undefined) events.push({ id: field("id") ?? "", data: JSON.parse(data) as StreamEvent["data"] });
    comments.push(...lines.filter((line) => line.startsWith(":")));
  };
  response.setEncoding("utf8");
  response.on("data", (piece: string) => {
    text += piece;
    if (response.statusCode !== 200) return;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      take(text.slice(0, end));
      text = text.slice(end + 2);
    }
  });
  for (const over of ["end", "error", "close"]) {
    response.on(over, () => {
      isOver = true;
    });
  }
  if (response.statusCode !== 200) await until(() => isOver, { what: "the answer to end" });
  const close = (): void => void request.destroy();
  cleanUp.push(close);
  return {
    status: response.statusCode ?? 0, headers: response.headers, events, comments,
    problem: response.statusCode === 200 ? null : (JSON.parse(text) as StreamClient["problem"]),
    get isOver() {
      return isOver;
    },
    get lastId() {
      return events.at(-1)?.id;
    },
    has: async (count) => {
      await until(() => events.length >= count, { what: `${count} events; there are ${events.length}` });
      return events;
    },
    pause: () => void response.pause(), resume: () => void response.resume(), close,
  };
}
