/**
 * One HTTP exchange whose end says what can be known of its effect. Node's own client on a fresh connection each time:
 * a pooled one that the server has just closed would turn a call that was never made into a lost answer.
 * No redirect is followed, and there is no limit of time but the caller's.
 */
import { createHash } from "node:crypto";
import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { longTimeout } from "../inline/run.ts";

/** Bytes of an answer that are kept; what is longer is counted and digested. */
const answerBytesMax = 10 * 1024 * 1024;
/** An answer is read no further than this. */
const readBytesMax = 1024 * 1024 * 1024;

export interface Exchange {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
}
export interface Answered {
  readonly kind: "answered";
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** At most `answerBytesMax`. */
  readonly body: Buffer;
  readonly bytes: number;
  /** Of the whole answer. */
  readonly digest: string;
}
export type ExchangeEnd =
  | Answered
  /** No connection was made: nothing can have happened. `permanent`: the call itself is at fault. */
  | { readonly kind: "not_sent"; readonly why: string; readonly permanent?: boolean }
  /** It may have been sent, and no whole answer came. */
  | { readonly kind: "lost"; readonly why: string };

export async function exchange(asked: Exchange): Promise<ExchangeEnd> {
  if (asked.signal.aborted) return { kind: "not_sent", why: "told to stop before the call began" };
  const stop = new AbortController();
  const onAbort = () => stop.abort(new Error("told to stop"));
  asked.signal.addEventListener("abort", onAbort, { once: true });
  const timer = longTimeout(asked.timeoutSeconds * 1000, () => stop.abort(new Error(`no answer within ${asked.timeoutSeconds} s`)));
  let connected = false;
  try {
    const request = open(asked, stop.signal);
    request.on("socket", (socket) => {
      socket.once(request.protocol === "https:" ? "secureConnect" : "connect", () => {
        connected = true;
      });
    });
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.once("response", resolve);
      request.on("error", reject);
      request.end(asked.body);
    });
    return await read(response);
  } catch (error) {
    const why = stop.signal.aborted ? (stop.signal.reason as Error).message : reasonOf(error);
    return connected ? { kind: "lost", why } : { kind: "not_sent", why, permanent: error instanceof TypeError };
  } finally {
    clearTimeout(timer);
    asked.signal.removeEventListener("abort", onAbort);
  }
}

function open({ url, method, headers, body }: Exchange, signal: AbortSignal): ClientRequest {
  const target = new URL(url);
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const send = target.protocol === "https:" ? httpsRequest : httpRequest;
  return send(target, { method, headers: { ...headers, ...length }, agent: false, signal });
}

async function read(response: IncomingMessage): Promise<ExchangeEnd> {
  const hash = createHash("sha256");
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    hash.update(chunk);
    if (keptBytes < answerBytesMax) {
      const part = chunk.subarray(0, answerBytesMax - keptBytes);
      kept.push(part);
      keptBytes += part.length;
    }
    if (bytes > readBytesMax) break;
  }
  return {
    kind: "answered", status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(kept), bytes, digest: `sha256:${hash.digest("hex")}`,
  };
}

function reasonOf(error: unknown): string {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return typeof code === "string" ? `${code}: ${String(message || "no connection")}` : String(message ?? error);
}
