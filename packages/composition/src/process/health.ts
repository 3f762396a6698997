/** The health endpoint of a process without a gateway: `/healthz` lives, `/readyz` takes work, `/metrics` in Prometheus text. */
import { messageOf } from "@loopledger/shared/core/errors";
import { type ServerResponse, createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { exitCodes } from "../exit-codes.ts";
import { Refusal } from "../refusals.ts";

/** Longest wait for an answer of this host, in ms. */
const answerMsMax = 1_000;

export interface Health {
  readonly port: number;
  stop(): Promise<void>;
}
export interface HealthOptions {
  readonly port: number;
  readonly host: string;
  /** What does not take work now, by name; empty = ready. */
  readonly unready: () => Promise<readonly string[]>;
  /** In Prometheus text. */
  readonly figures: () => Promise<string>;
}

export async function startHealth({ port, host, unready, figures }: HealthOptions): Promise<Health> {
  const server = createServer((request, response) => {
    const path = request.url?.split("?")[0];
    if (request.method !== "GET" && request.method !== "HEAD") return send(response, 405, { code: "method_not_allowed", next: "GET it." });
    if (path === "/healthz") return send(response, 200, { status: "ok" });
    if (path === "/metrics") {
      return void figures().then((text) => send(response, 200, text), (error: unknown) => send(response, 500, { code: "internal_error", next: String(error) }));
    }
    if (path !== "/readyz") return send(response, 404, { code: "not_found", next: "This process has no gateway role; /healthz, /readyz and /metrics are here." });
    unready().then(
      (faults) => send(response, faults.length === 0 ? 200 : 503, { status: faults.length === 0 ? "ready" : "unready", faults }),
      (error: unknown) => send(response, 503, { status: "unready", faults: [messageOf(error)] }),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(error.code === "EADDRINUSE" ? portTaken(port) : error));
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    stop: () => new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    }),
  };
}

/** Throws `port_taken` where another process listens there. It only asks: whoever waits for this port must not find one that closes again. */
export async function refuseTakenPort({ host, port }: { readonly host: string; readonly port: number }): Promise<void> {
  if (port === 0) return;
  const probe = connect({ host, port, timeout: answerMsMax });
  const isAnswered = await new Promise<boolean>((resolve) => {
    probe.once("connect", () => resolve(true)).once("error", () => resolve(false)).once("timeout", () => resolve(false));
  });
  probe.destroy();
  if (isAnswered) throw portTaken(port);
}

export function portTaken(port: number, hint = "Name another port with --port; --port 0 takes any free one."): Refusal {
  return new Refusal("port_taken", `Port ${port} is taken by another process, and nobody left a note who that is.`, { exitCode: exitCodes.failed, next: hint });
}

function send(response: ServerResponse, status: number, body: object | string): void {
  const type = typeof body === "string" ? "text/plain; version=0.0.4" : "application/json";
  response.writeHead(status, { "content-type": type }).end(typeof body === "string" ? body : `${JSON.stringify(body)}\n`);
}
