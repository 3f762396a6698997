import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { forgeUrl, readAddress, whoAnswers } from "./address.mjs";
import { noteOwner } from "./owners.mjs";

const START_MS = 30_000;
const POLL_MS = 25;

/**
 * Starts the folder's forge where it does not run, detached, so that it outlives whoever asked. Asking twice, or from
 * two processes at once, gives one forge: the port lets only one in. With an owner it runs until that process has ended, and
 * any other that was named; without one until nobody has used it for a while.
 * @param {string} folder
 * @param {{ idleSeconds?: number, owner?: number }} [options]
 * @returns {Promise<string>} its address; it answers there
 */
export async function startForge(folder, { idleSeconds = 180, owner } = {}) {
  const url = await forgeUrl(folder);
  const port = Number(new URL(url).port);
  mkdirSync(folder, { recursive: true });
  if (owner !== undefined) noteOwner(folder, owner);
  const child = (await whoAnswers(folder, port)) === "nobody" ? launch(folder, port, { idleSeconds, isOwned: owner !== undefined }) : null;
  const limit = performance.now() + START_MS;
  while ((await whoAnswers(folder, port)) !== "this forge" || isRival(folder, child)) {
    if (performance.now() > limit || (child?.exitCode ?? 0) !== 0) {
      throw new Error(`the forge did not start on ${url}; see ${join(folder, "forge.log")}`);
    }
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
  return url;
}

/** One that came too late leaves by itself; until it has, it could still take the port of a forge that is stopped. */
function isRival(folder, child) {
  return child !== null && child.exitCode === null && readAddress(folder)?.pid !== child.pid;
}

function launch(folder, port, { idleSeconds, isOwned }) {
  const log = openSync(join(folder, "forge.log"), "a");
  const program = join(import.meta.dirname, "forge.mjs");
  const child = spawn(process.execPath, [program, folder, "--port", String(port), "--idle-seconds", String(idleSeconds), ...(isOwned ? ["--owned"] : [])], {
    detached: true,
    stdio: ["ignore", log, log],
    env: { PATH: process.env.PATH ?? "" },
  });
  child.unref();
  closeSync(log);
  return child;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const folder = process.argv[2];
  if (folder === undefined) throw new Error("usage: node start.mjs FOLDER");
  process.stdout.write(`${await startForge(folder)}\n`);
}
