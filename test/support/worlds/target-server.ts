/** The target behind HTTP, for processes: POST /{door} does it, GET /{door}/{key} asks. */
import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Door, Target, doors } from "./target.ts";

export interface TargetServer {
  readonly url: string;
  readonly target: Target;
  close(): Promise<void>;
}

export async function startTarget(folder: string): Promise<TargetServer> {
  const target = new Target(folder);
  const server = createServer((request, response) => {
    answer(target, request, response).catch((error: unknown) => {
      response.statusCode = 500;
      response.end(String(error));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`, target,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
      target.close();
    },
  };
}

async function answer(target: Target, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, door = "", asked] = (request.url ?? "/").split("/").map(decodeURIComponent);
  if (!isDoor(door)) return say(response, 404, { detail: `no door ${door}` });
  const call = {
    tool: door, key: asked ?? String(request.headers["idempotency-key"]), session: String(request.headers["loopledger-session"]),
    epoch: Number(request.headers["loopledger-epoch"]), args: request.method === "POST" ? JSON.parse(await textOf(request)) : null,
  };
  if (request.method !== "POST") return say(response, 200, target.look(call));
  const done = await target.call(call);
  switch (done.kind) {
    case "done": return say(response, 200, done.result);
    case "refused": return say(response, 409, { code: "stale_epoch", detail: "run ownership moved" });
    case "lost": request.socket.destroy();
  }
}

function isDoor(name: string): name is Door {
  return (doors as readonly string[]).includes(name);
}
async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
}
function say(response: ServerResponse, status: number, body: unknown): void {
  response.statusCode = status;
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(body));
}
