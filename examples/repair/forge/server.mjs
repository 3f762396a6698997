const BODY_BYTES_MAX = 1024 * 1024;

/**
 * The forge's HTTP face: POST /pulls opens, GET /pulls/KEY looks up, GET /pulls lists, POST /stop ends the process.
 * @param {{ pulls: import("./pulls.mjs").Pulls, identity: string, stopToken: string, onUse: () => void, onStop: () => void }} forge
 */
export function forgeHandler({ pulls, identity, stopToken, onUse, onStop }) {
  return async (request, response) => {
    onUse();
    try {
      const answer = await route(request, { pulls, identity, stopToken });
      response.writeHead(answer.status, { "content-type": "application/json" });
      response.end(`${JSON.stringify(answer.body)}\n`);
      if (answer.stop) onStop();
    } catch (error) {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(`${JSON.stringify({ error: "bad_request", detail: error.message })}\n`);
    }
  };
}

async function route(request, { pulls, identity, stopToken }) {
  if (!pulls.isInPlace()) return { status: 503, body: { service: "forge", identity: null, detail: "the folder is gone" }, stop: true };
  const { pathname } = new URL(request.url ?? "/", "http://forge");
  const asked = `${request.method} ${pathname}`;
  if (asked === "GET /healthz") return { status: 200, body: { service: "forge", identity } };
  if (asked === "GET /pulls") return { status: 200, body: { items: pulls.list() } };
  if (asked === "POST /pulls") return open(request, pulls);
  if (asked === "POST /stop") return stop(request, stopToken);
  const key = /^\/pulls\/([^/]+)$/.exec(pathname)?.[1];
  if (request.method === "GET" && key) return lookUp(request, pulls, decodeURIComponent(key));
  return { status: 404, body: { error: "not_found", detail: asked } };
}

async function open(request, pulls) {
  const caller = callerOf(request, request.headers["idempotency-key"]);
  const args = JSON.parse(await read(request));
  if (!caller.key) return { status: 400, body: { error: "bad_request", detail: "Idempotency-Key is missing" } };
  const lacking = ["branch", "title"].filter((name) => typeof args?.[name] !== "string" || args[name] === "");
  if (lacking.length > 0) return { status: 422, body: { error: "invalid", detail: `missing: ${lacking.join(", ")}` } };
  const opened = pulls.open(caller, args);
  if ("pull" in opened) return { status: 200, body: opened.pull };
  const detail = opened.refused === "stale_epoch" ? "run ownership moved" : "this key was used with other arguments";
  return { status: 409, body: { error: opened.refused, detail } };
}

function lookUp(request, pulls, key) {
  const pull = pulls.lookUp(callerOf(request, key));
  return { status: 200, body: pull ? { status: "happened", result: pull } : { status: "did_not_happen" } };
}

function stop(request, stopToken) {
  if (request.headers.authorization !== `Bearer ${stopToken}`) return { status: 401, body: { error: "unauthorized" } };
  return { status: 200, body: { stopped: true }, stop: true };
}

function callerOf({ headers }, key) {
  const epoch = headers["loopledger-epoch"];
  if (epoch !== undefined && !/^\d+$/.test(epoch)) throw new Error("Loopledger-Epoch is not a whole number");
  return { key, session: headers["loopledger-session"] ?? null, epoch: epoch === undefined ? null : Number(epoch) };
}

async function read(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > BODY_BYTES_MAX) throw new Error("the body is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
