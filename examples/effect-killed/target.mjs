/**
 * The thing that is deployed to, a process of its own:  node target.mjs FOLDER
 * It takes a deployment and, the first time, breaks the connection before it answers: the effect is there, its answer is
 * lost. It knows no keys and offers no look-up: called twice, it deploys twice. FOLDER/effects.jsonl says what happened.
 */
import { createHash } from "node:crypto";
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const folder = process.argv[2];
if (folder === undefined) throw new Error("usage: node target.mjs FOLDER");
const log = join(folder, "effects.jsonl");
writeFileSync(log, "", { flag: "a" });

const server = createServer(async (request, response) => {
  if (request.method !== "POST") return answer(response, { deployed: deployed() });
  let body = "";
  for await (const chunk of request) body += chunk;
  const args = JSON.parse(body);
  const first = deployed().length === 0;
  record("call", request, args);
  record("application", request, args);
  if (first) return request.socket.destroy();
  return answer(response, { deployed: deployed() });
});

server.listen(0, "127.0.0.1", () => {
  writeFileSync(join(folder, "address.part"), `http://127.0.0.1:${server.address().port}`);
  renameSync(join(folder, "address.part"), join(folder, "address"));
});

function answer(response, value) {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(value));
}

/** Each row is on the disk before anything is said about it. */
function record(kind, { headers }, args) {
  const row = {
    kind,
    tool: "deploy",
    key: headers["idempotency-key"] ?? "",
    session: headers["loopledger-session"] ?? null,
    epoch: headers["loopledger-epoch"] ? Number(headers["loopledger-epoch"]) : null,
    argsDigest: `sha256:${createHash("sha256").update(canonical(args)).digest("hex")}`,
    at: new Date().toISOString(),
  };
  const fd = openSync(log, "a");
  writeSync(fd, `${JSON.stringify(row)}\n`);
  fsyncSync(fd);
  closeSync(fd);
}

function deployed() {
  const rows = readFileSync(log, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
  return rows.filter(({ kind }) => kind === "application").map(({ key }) => key);
}

/** Flat arguments with their members in the order of their names, as the digest wants them. */
function canonical(args) {
  return JSON.stringify(Object.fromEntries(Object.entries(args).sort(([a], [b]) => (a < b ? -1 : 1))));
}
