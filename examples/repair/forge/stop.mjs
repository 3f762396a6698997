import { pathToFileURL } from "node:url";
import { readAddress, whoAnswers } from "./address.mjs";

/**
 * Ends the folder's forge, if it runs, and returns when it no longer answers. What it has recorded stays.
 * @param {string} folder
 * @returns {Promise<boolean>} whether one was running
 */
export async function stopForge(folder) {
  const address = readAddress(folder);
  if (address === null) return false;
  const port = Number(new URL(address.url).port);
  if ((await whoAnswers(folder, port)) !== "this forge") return false;
  await fetch(`${address.url}/stop`, { method: "POST", headers: { authorization: `Bearer ${address.stopToken}` } });
  while ((await whoAnswers(folder, port)) === "this forge") await new Promise((done) => setTimeout(done, 25));
  return true;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const folder = process.argv[2];
  if (folder === undefined) throw new Error("usage: node stop.mjs FOLDER");
  process.stdout.write((await stopForge(folder)) ? "the forge has ended\n" : "no forge was running\n");
}
