/**
 * The registry's client with a deadline on every request, and its failures told apart: not there, not known, not fitting.
 *
 * G1. The client waits for ever for a registry that does not answer; here nobody does.
 * G2. It reports a broken connection as an answer with status 400 and keeps the words of the reason alone: where it does, one request
 *     by hand finds out whether there is a registry, and why not. What that one cannot see again is told by the words.
 * G3. It is never asked to validate: records are judged by the schemas in the core, and their text stays byte for byte as it is.
 * G4. Over TLS a registry proves who it is, whatever the process was told by Node's own variables.
 */
import https from "node:https";
import type { ConnectionOptions } from "node:tls";
import { SchemaRegistry, SchemaType } from "@kafkajs/confluent-schema-registry";
import { LoopledgerError } from "../../core/errors.ts";
import { tlsCodes, type TlsTrouble, tlsTroubleOf } from "../../core/tls-trouble.ts";
import type { Clock } from "../../ports/index.ts";
import { request } from "./request.ts";

/** Where trouble is told; a pino logger is one. */
export interface RegistryLog {
  warn(bindings: object, text: string): void;
}
export interface RegistryOptions {
  /** Of its Confluent-compatible API; with user and password where they are needed. */
  readonly url: string;
  /** What TLS needs to know (PEM texts), for an `https:` URL; left out or null = the authorities that Node knows. */
  readonly tls?: ConnectionOptions | null | undefined;
  readonly clock: Clock;
  readonly log: RegistryLog;
}

type Settings = ConstructorParameters<typeof SchemaRegistry>[0];

/** Longest time that who reads or writes a record waits for the registry. */
export const recordDeadlineMs = 5_000;
/** Longest time for publishing: some registries compare every branch with every other one, over all versions. */
export const publishDeadlineMs = 60_000;

export interface RegistryClient {
  readonly registry: SchemaRegistry;
  /** Its base address without user and password: for messages. */
  readonly address: string;
  /** Runs a request of the client. Throws `registry_unreachable` in time; rejections that are answers pass as they are. */
  ask<T>(request: () => Promise<T>): Promise<T>;
  /** A request that the client does not know. The status and the body, also of a refusal. */
  send(method: "GET" | "PUT" | "POST", path: string, body?: object): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }>;
}

export function connectRegistry({ url, tls, clock }: RegistryOptions, deadlineMs: number): RegistryClient {
  const { address, auth } = readUrl(url);
  const isTls = address.startsWith("https:");
  const agent = isTls ? new https.Agent({ ...tls, rejectUnauthorized: true, keepAlive: true }) : undefined;
  const everything = () => true;
  const settings: Settings = { host: address, retry: { retries: 1, initialRetryTimeInSecs: 0.1, maxRetryTimeInSecs: 1 }, middlewares: [endsAfter(deadlineMs)], ...(agent && { agent: agent as unknown as NonNullable<Settings["agent"]> }) };
  if (auth) settings.auth = auth;
  const registry = new SchemaRegistry(settings, { [SchemaType.JSON]: { ajvInstance: { addSchema: () => undefined as never, compile: () => everything } } });
  const unreachable = (why: string, cause?: unknown): LoopledgerError => {
    const trouble = troubleOf(cause, isTls);
    const what = trouble === null ? `does not answer: ${why}` : `cannot be used: ${trouble.why}`;
    return new LoopledgerError("registry_unreachable", `The schema registry at ${address} ${what}.`, { cause, ...(trouble && { next: trouble.next }) });
  };
  const inTime = <T>(request: Promise<T>): Promise<T> => new Promise((done, fail) => {
    const cancel = clock.after(deadlineMs, () => fail(unreachable(`nothing within ${deadlineMs} ms`)));
    request.then(done, fail).finally(cancel);
  });
  /** A request by hand; what comes back is read within the same deadline. */
  const byHand = async <T>({ method, path, body }: ByHand, read: (answer: Answer) => T): Promise<T> => {
    const headers = { "content-type": "application/vnd.schemaregistry.v1+json", ...(auth && { authorization: basic(auth) }) };
    try {
      return read(await inTime(request({ url: `${address}${path}`, method, headers, agent, signal: AbortSignal.timeout(deadlineMs), body: body && JSON.stringify(body) })));
    } catch (error) {
      throw error instanceof LoopledgerError ? error : unreachable(messageOf(error), error);
    }
  };
  return {
    registry, address,
    ask: async (question) => {
      try {
        return await inTime(question());
      } catch (error) {
        if (isBroken(error)) await byHand({ method: "GET", path: "/schemas/types" }, () => null);
        throw isNoAnswer(error) ? unreachable(messageOf(error), error) : error;
      }
    },
    send: (method, path, body) => byHand({ method, path, body }, ({ status, text }) => {
      if (status >= 500 || noAnswers.has(status)) throw new Error(`status ${status}`);
      return { status, body: JSON.parse(text) as Readonly<Record<string, unknown>> };
    }),
  };
}

type Answer = Awaited<ReturnType<typeof request>>;
interface ByHand { readonly method: "GET" | "PUT" | "POST"; readonly path: string; readonly body?: object | undefined }

/** Ends the request itself, so that no socket is left behind a deadline. */
const endsAfter = (timeout: number): NonNullable<Settings["middlewares"]>[number] => () => ({
  prepareRequest: async (next) => (await next()).enhance({ timeout }),
});

const place = {
  who: "the registry", address: "LOOPLEDGER_REGISTRY_URL", files: "LOOPLEDGER_REGISTRY_TLS", on: "Write https:// in LOOPLEDGER_REGISTRY_URL", off: "Write http:// in LOOPLEDGER_REGISTRY_URL",
} as const;

/** A server hangs up on what it does not understand, or answers with what is no HTTP. */
function troubleOf(error: unknown, isTls: boolean): TlsTrouble | null {
  const code = error instanceof Error ? String((error as { readonly code?: unknown }).code) : "";
  const hungUp = code === "ECONNRESET" || code === "EPIPE" || code.startsWith("HPE_");
  return tlsTroubleOf(hungUp ? Object.assign(new Error(messageOf(error)), { code: tlsCodes.hungUp }) : error, { ...place, isTls });
}

export function statusOf(error: unknown): number | null {
  const status = error instanceof Error && "status" in error ? error.status : null;
  return typeof status === "number" ? status : null;
}

const noAnswer = /ECONN|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EPIPE|EHOSTUNREACH|ENETUNREACH|socket hang up|timeout/i;
/** Who may not ask, or is to ask later, has no answer either. */
const noAnswers = new Set([401, 403, 408, 429]);

/** It may be one of the client's broken connections. A deadline that is over is not waited for once more. */
function isBroken(error: unknown): boolean {
  return statusOf(error) === 400 && !/timeout/i.test(messageOf(error));
}

function isNoAnswer(error: unknown): boolean {
  const status = statusOf(error);
  return status !== null && (status >= 500 || noAnswers.has(status) || (status === 400 && noAnswer.test(messageOf(error))));
}

export const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
};

type Auth = { readonly username: string; readonly password: string };
const basic = ({ username, password }: Auth): string => `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;

function readUrl(url: string): { readonly address: string; readonly auth: Auth | null } {
  const read = new URL(url);
  const auth = read.username === "" ? null : { username: decodeURIComponent(read.username), password: decodeURIComponent(read.password) };
  read.username = "";
  read.password = "";
  return { address: read.href.replace(/\/+$/, ""), auth };
}
