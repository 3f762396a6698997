/** Requests to a gateway. What it refuses keeps its code, its sentence and what to do next; what cannot be reached leaves with 7. */
import { CliError, UsageError } from "../errors.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";

export interface Remote {
  readonly url: string;
  readonly token: string | null;
}
export interface Asked {
  readonly method?: "GET" | "POST";
  /** Under the gateway's address, with its query. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Ends a stream; without it a request has half a minute. */
  readonly signal?: AbortSignal;
}

const answerMs = 30_000;

/** A path of a session; its id stands in it as text. */
export function sessionPath(sessionId: string, ...rest: readonly string[]): string {
  return ["/v1/sessions", sessionId, ...rest].map((part, index) => (index === 0 ? part : encodeURIComponent(part))).join("/");
}
export function withQuery(path: string, query: Readonly<Record<string, string | number | boolean | null | undefined>>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) => (value === undefined || value === null ? [] : [[name, String(value)] as [string, string]]));
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`;
}

/** The answer's JSON. Throws `CliError`. */
export async function ask<T>(remote: Remote, asked: Asked): Promise<T> {
  const response = await send(remote, asked);
  try {
    return (await response.json()) as T;
  } catch (error) {
    throw unreachable(remote, error);
  }
}

/** The answer itself, once it is one that was asked for. Throws `CliError`. */
export async function send(remote: Remote, { method = "GET", path, body, headers, signal }: Asked): Promise<Response> {
  const address = addressOf(remote, path);
  let response: Response;
  try {
    response = await fetch(address, {
      method, redirect: "error", signal: signal ?? AbortSignal.timeout(answerMs),
      headers: {
        accept: "application/json", ...(body !== undefined && { "content-type": "application/json" }),
        ...(remote.token !== null && { authorization: `Bearer ${remote.token}` }), ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  } catch (error) {
    throw unreachable(remote, error);
  }
  if (!response.ok) throw await refusalOf(remote, response);
  return response;
}

function addressOf({ url }: Remote, path: string): string {
  const base = URL.parse(url);
  if (!base || !/^https?:$/.test(base.protocol)) throw new UsageError(`"${url}" is no address of a gateway.`, { next: "For example --url http://127.0.0.1:7420" });
  return `${base.origin}${base.pathname.replace(/\/+$/, "")}${path}`;
}

export function unreachable({ url }: Remote, error: unknown): CliError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const why = cause instanceof Error ? (cause.name === "TimeoutError" ? "it does not answer" : cause.message) : String(cause);
  return new CliError("gateway_unreachable", `The gateway ${url} cannot be reached: ${why}.`, {
    next: "See that it serves (`loopledger serve --roles gateway`) and that the address is right; the same command may be typed again.", exitCode: exitCodes.unreachable,
  });
}

/** A refusal of the gateway: its status, and after how many seconds the same may be asked again. */
export class GatewayRefusal extends CliError {
  override readonly name = "GatewayRefusal";
  readonly retryAfterSeconds: number | null;
  constructor(code: string, message: string, more: ConstructorParameters<typeof CliError>[2] & { readonly retryAfterSeconds: number | null }) {
    super(code, message, more);
    this.retryAfterSeconds = more.retryAfterSeconds;
  }
}

interface ProblemBody { readonly code?: unknown; readonly detail?: unknown; readonly title?: unknown; readonly next?: unknown; readonly faults?: unknown }

async function refusalOf({ url }: Remote, response: Response): Promise<GatewayRefusal> {
  const problem = (await response.json().catch(() => ({}))) as ProblemBody;
  const text = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);
  const code = text(problem.code) ?? `http_${response.status}`;
  const after = Number(response.headers.get("retry-after") ?? Number.NaN);
  return new GatewayRefusal(code, text(problem.detail) ?? text(problem.title) ?? `The gateway ${url} answered ${response.status}.`, {
    next: text(problem.next) ?? "See the gateway's log.", exitCode: exitCodeOf(response.status, code),
    ...(Array.isArray(problem.faults) && { faults: problem.faults.map(String) }), retryAfterSeconds: Number.isFinite(after) ? after : null,
  });
}

/** Bad input is 2, as it is without a gateway; what the ledger refuses is 1; what does not work now is 7. */
function exitCodeOf(status: number, code: string): ExitCode {
  if (code === "seq_ahead") return exitCodes.running;
  if (code === "session_conflict") return exitCodes.usage;
  if (status === 409 || status === 403) return exitCodes.failed;
  return status === 429 || status >= 500 ? exitCodes.unreachable : exitCodes.usage;
}
