/**
 * A stand-in for a code forge, a process of its own:  node forge.mjs FOLDER [--port N] [--idle-seconds N] [--owned]
 * Keeps everything in FOLDER, which must exist, writes its address to FOLDER/address.json, and ends by itself when the folder
 * is gone and when the last process that it runs for has ended; where it runs for none, when nobody has used it for a while.
 */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { parseArgs } from "node:util";
import { forgeUrl, identityOf, whoAnswers, writeAddress } from "./address.mjs";
import { countOwners } from "./owners.mjs";
import { Pulls } from "./pulls.mjs";
import { forgeHandler } from "./server.mjs";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { port: { type: "string" }, "idle-seconds": { type: "string", default: "180" }, owned: { type: "boolean", default: false } },
});
const folder = positionals[0];
if (folder === undefined) throw new Error("usage: node forge.mjs FOLDER [--port N] [--idle-seconds N] [--owned]");
/** A folder that was taken away meanwhile is not made anew: nobody would look for this process. */
if (!existsSync(folder)) throw new Error(`there is no folder ${folder}`);
const port = Number(values.port ?? new URL(await forgeUrl(folder)).port);

const server = createServer();
server.once("error", async (error) => {
  const already = (await whoAnswers(folder, port)) === "this forge";
  process.stderr.write(already ? "the forge of this folder is running already\n" : `no forge: ${error.message}\n`);
  process.exit(already ? 0 : 1);
});
server.listen({ port, host: "127.0.0.1", exclusive: true }, serve);

/** The log is opened only by the process that has the port; until then no request is read. */
function serve() {
  const pulls = new Pulls(folder);
  const stopToken = randomUUID();
  let usedAt = performance.now();
  let isOwned = values.owned;
  const onUse = () => {
    usedAt = performance.now();
  };
  server.on("request", forgeHandler({ pulls, identity: identityOf(folder), stopToken, onUse, onStop: leave }));
  writeAddress(folder, { url: `http://127.0.0.1:${server.address().port}`, pid: process.pid, stopToken });
  setInterval(() => {
    const isUsed = performance.now() - usedAt <= Number(values["idle-seconds"]) * 1000;
    const owners = countOwners(folder);
    isOwned ||= owners > 0;
    // The owners are read and the port is closed in one go: whoever is noted later finds nobody there, and starts a forge.
    if ((isOwned ? owners === 0 : !isUsed) || !pulls.isInPlace()) leave();
  }, 500);
}

/** Nothing is owed at this point: each row is on the disk before its answer goes out. */
function leave() {
  server.close(() => process.exit(0));
  server.closeIdleConnections();
  setTimeout(() => process.exit(0), 1000);
}
process.on("SIGTERM", leave);
process.on("SIGINT", leave);
