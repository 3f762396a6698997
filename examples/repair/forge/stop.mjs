import { pathToFileURL } from "node:url";
import { readAddress, whoAnswers } from "./address.mjs";

/**
 * Ends the folder's forge, if it runs, and returns when it no longer answers. What it has recorded stays.
 * @param {string} folder
 * @returns {Promise<boolean>} whether one was running
 */
export async function stopForge(folder) {
  let ran = false;
  for (;;) {
    const address = readAddress(folder);
    if (address === null) return ran;
    if ((await whoAnswers(folder, Number(new URL(address.url).port))) !== "this forge") return ran;
    ran = true;
    await ask(address);
    await new Promise((done) => setTimeout(done, 25));
  }
}

/** It may be gone before it is asked, or before it has answered. */
async function ask({ url, stopToken }) {
  await fetch(`${url}/stop`, { method: "POST", headers: { authorization: `Bearer ${stopToken}` } }).catch(() => null);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const folder = process.argv[2];
  if (folder === undefined) throw new Error("usage: node stop.mjs FOLDER");
  process.stdout.write((await stopForge(folder)) ? "the forge has ended\n" : "no forge was running\n");
}
