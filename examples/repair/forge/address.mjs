import { linkSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";

/**
 * Where a data folder's forge listens. The port is chosen once and noted in the folder, so that the address is known
 * before the forge runs and stays the same over restarts; only one process can listen on it, so there is one forge.
 */

/**
 * The forge's address: the noted port, or a new one where none is noted or another program has taken it.
 * @param {string} folder
 * @returns {Promise<string>} such as http://127.0.0.1:24817
 */
export async function forgeUrl(folder) {
  const noted = notedPort(folder);
  if (noted !== null && (await whoAnswers(folder, noted)) !== "another") return urlOf(noted);
  return urlOf(note(folder, await freePort(folder), noted));
}

/**
 * Who listens on the port. It is only knocked at, never bound, so that looking cannot keep a starting forge out. A forge
 * that is slow to answer is not taken for another program: then there would soon be two.
 * @returns {Promise<"nobody" | "this forge" | "another" | "somebody slow">}
 */
export async function whoAnswers(folder, port) {
  if (!(await isOpen(port))) return "nobody";
  try {
    const answer = await fetch(`${urlOf(port)}/healthz`, { signal: AbortSignal.timeout(5000) });
    const { service, identity } = await answer.json();
    return service === "forge" && identity === identityOf(folder) ? "this forge" : "another";
  } catch (error) {
    if (error instanceof SyntaxError) return "another";
    return (await isOpen(port)) ? "somebody slow" : "nobody";
  }
}

/** How a forge says which folder it serves. */
export function identityOf(folder) {
  return realpathSync(folder);
}

/** @returns {{ url: string, pid: number, stopToken: string } | null} what a running forge wrote about itself */
export function readAddress(folder) {
  try {
    return JSON.parse(readFileSync(join(folder, "address.json"), "utf8"));
  } catch {
    return null;
  }
}

export function writeAddress(folder, address) {
  const part = join(folder, `address.${process.pid}.part`);
  writeFileSync(part, JSON.stringify(address), { mode: 0o600 });
  renameSync(part, join(folder, "address.json"));
}

function urlOf(port) {
  return `http://127.0.0.1:${port}`;
}

function notedPort(folder) {
  try {
    return Number(readFileSync(join(folder, "port"), "utf8")) || null;
  } catch {
    return null;
  }
}

/** The first to note a port wins; a port that turned out to be taken is replaced. */
function note(folder, port, taken) {
  mkdirSync(folder, { recursive: true });
  const part = join(folder, `port.${process.pid}.part`);
  writeFileSync(part, String(port));
  try {
    if (taken !== null && notedPort(folder) === taken) renameSync(part, join(folder, "port"));
    else linkSync(part, join(folder, "port"));
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
  } finally {
    rmSync(part, { force: true });
  }
  return notedPort(folder) ?? port;
}

/** Below the range from which systems hand out ports by themselves, so that it stays free while no forge runs. */
async function freePort(folder) {
  const start = [...folder].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 10_000, 0);
  for (let step = 0; step < 10_000; step += 1) {
    const port = 20_000 + ((start + step) % 10_000);
    if (!(await isOpen(port))) return port;
  }
  throw new Error("no free port between 20000 and 29999");
}

function isOpen(port) {
  return new Promise((resolve) => {
    const knock = connect({ port, host: "127.0.0.1" });
    const answer = (open) => {
      knock.destroy();
      resolve(open);
    };
    knock.once("connect", () => answer(true));
    knock.once("error", () => answer(false));
  });
}
