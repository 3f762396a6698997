/**
 * The step protocol: how a running maker or check of any language reaches its claim. One loopback server a process;
 * each running dispatch is mounted with a token of its own, which dies with it.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { StepApi } from "@loopledger/shared/core/effects/handling";
import type { Json } from "@loopledger/shared/core/json";
import type { Part } from "@loopledger/shared/runtime";
import { readJson } from "../results/json-text.ts";
import { type Problem, problemBody } from "./problem.ts";
import { route } from "./routes.ts";

/** Largest body that is read, in bytes. */
const stepBodyBytesMax = 10 * 1024 * 1024;

export interface StepLog {
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
}
export interface MountedSteps {
  readonly url: string;
  readonly token: string;
  /** From now on the token is answered 409 stale_owner. */
  unmount(): void;
}
export interface StepServer {
  readonly url: string;
  mount(steps: StepApi, options: { readonly tools: boolean }): MountedSteps;
  close(): Promise<void>;
}
interface Mount {
  readonly steps: StepApi;
  readonly tools: boolean;
}
type Answer = { readonly status: number; readonly body: string; readonly allow?: string | undefined };

export interface StepServerOptions {
  readonly log?: StepLog | undefined;
  /** The name under which readiness tells that requests cannot be answered. */
  readonly part?: Part | undefined;
}

export async function startStepServer({ log, part }: StepServerOptions = {}): Promise<StepServer> {
  const secret = randomBytes(32);
  const mounts = new Map<string, Mount>();
  const server = createServer({ requestTimeout: 60_000, headersTimeout: 10_000, maxHeaderSize: 16_384 }, (request, response) => {
    answer({ request, mounts, secret, url }).then(
      (made) => {
        part?.works();
        send(response, made);
      },
      (error: unknown) => {
        log?.warn({ err: error }, "a step request failed");
        part?.failed(error);
        send(response, refused({ status: 500, code: "internal", detail: "the engine could not answer" }));
      },
    ).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  server.on("error", (error) => void part?.again(error, () => undefined));
  server.unref();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    mount: (steps, { tools }) => {
      const id = randomBytes(12).toString("base64url");
      mounts.set(id, { steps, tools });
      return { url, token: `${id}.${sealOf(id, secret)}`, unmount: () => void mounts.delete(id) };
    },
    close: () => closed(server),
  };
}

async function answer(asked: { request: IncomingMessage; mounts: ReadonlyMap<string, Mount>; secret: Buffer; url: string }): Promise<Answer> {
  const { request, mounts, secret, url } = asked;
  if (request.headers.origin !== undefined || !isOurHost(request.headers.host, url)) {
    return refused({ status: 403, code: "forbidden", detail: "the request names another host or comes from a web page" });
  }
  const id = verifiedId(request.headers.authorization, secret);
  if (id === null) return refused({ status: 401, code: "unauthorized", detail: "the token is missing or wrong" });
  const mount = mounts.get(id);
  if (!mount) return refused({ status: 409, code: "stale_owner", detail: "this run is over or its session has another owner" });
  const body = await bodyOf(request);
  if (!body.ok) return refused(body.problem);
  const target = new URL(request.url ?? "/", url);
  if (!mount.tools && target.pathname.startsWith("/tools/")) {
    return refused({ status: 404, code: "unknown_tool", detail: "a check has no tools" });
  }
  const routed = route(mount.steps, { method: request.method ?? "GET", path: target.pathname, query: target.searchParams, body: body.value });
  switch (routed.kind) {
    case "not_found":
      return refused({ status: 404, code: "not_found", detail: `no such route: ${target.pathname.slice(0, 200)}` });
    case "method":
      return { ...refused({ status: 405, code: "method_not_allowed", detail: `use ${routed.allow}` }), allow: routed.allow };
    case "bad":
      return refused({ status: 400, code: "bad_request", detail: routed.detail });
    case "answer": {
      const made = await routed.answer;
      return made.ok ? { status: 200, body: JSON.stringify(made.value) } : refused(made);
    }
    default:
      return routed satisfies never;
  }
}

function refused(problem: Problem): Answer {
  return { status: problem.status, body: problemBody(problem) };
}

function send(response: ServerResponse, { status, body, allow }: Answer): void {
  response.writeHead(status, {
    "content-type": status < 400 ? "application/json" : "application/problem+json",
    "content-length": Buffer.byteLength(body),
    ...(allow ? { allow } : {}),
    // What was not read of a body is not to be taken for the next request.
    ...(status === 413 ? { connection: "close" } : {}),
  });
  response.end(body);
}

function isOurHost(host: string | undefined, url: string): boolean {
  const { port } = new URL(url);
  return host === `127.0.0.1:${port}` || host === `localhost:${port}`;
}

function sealOf(id: string, secret: Buffer): string {
  return createHmac("sha256", secret).update(id).digest("base64url");
}

/** The id of a token that this process has sealed, else null; compared in constant time. */
function verifiedId(authorization: string | undefined, secret: Buffer): string | null {
  const [, id, seal] = /^Bearer ([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{43})$/i.exec(authorization ?? "") ?? [];
  if (id === undefined || seal === undefined) return null;
  return timingSafeEqual(Buffer.from(seal), Buffer.from(sealOf(id, secret))) ? id : null;
}

async function bodyOf(request: IncomingMessage): Promise<{ ok: true; value: Json | undefined } | { ok: false; problem: Problem }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > stepBodyBytesMax) return { ok: false, problem: { status: 413, code: "too_large", detail: `the body is larger than ${stepBodyBytesMax} bytes` } };
    chunks.push(chunk);
  }
  if (bytes === 0) return { ok: true, value: undefined };
  const read = readJson(Buffer.concat(chunks).toString("utf8"));
  return read.ok ? read : { ok: false, problem: { status: 400, code: "bad_request", detail: `the body is ${read.why}` } };
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
