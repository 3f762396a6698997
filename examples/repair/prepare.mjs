/**
 * Makes what the example works on:  node prepare.mjs PLACE [OWNER]
 *   PLACE/base       the repository as it was delivered, to say afterwards what a repair has changed
 *   PLACE/workspace  the copy that is repaired; a git repository of its own where git is installed
 *   PLACE/forge      the fake forge, which is started if it does not run; it ends with the process OWNER (a pid)
 * Run it as often as you like: what is there stays as it is. Each folder is built aside and renamed into its place, so that
 * a kill at any point leaves it whole or absent.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { startForge } from "./forge/start.mjs";

const TEMPLATE = join(import.meta.dirname, "repository");
const IDENTITY = { NAME: "Invoices", EMAIL: "invoices@example.invalid", DATE: "2026-01-05T09:00:00Z" };

/** @param {string} place */
export function makeFolders(place) {
  mkdirSync(place, { recursive: true });
  sweep(place);
  make(place, "base", () => {});
  make(place, "workspace", commit);
}

function make(place, name, finish) {
  const target = join(place, name);
  if (existsSync(target)) return;
  const part = join(place, `.part-${process.pid}-${name}`);
  cpSync(TEMPLATE, part, { recursive: true });
  finish(part);
  try {
    renameSync(part, target);
  } catch (error) {
    // Another process was faster; its folder is as good as this one.
    if (!existsSync(target)) throw error;
    rmSync(part, { recursive: true, force: true });
  }
}

/** One commit whose id depends on nothing of this machine: no global configuration, fixed identity and time. */
function commit(folder) {
  const steps = [
    ["init", "--quiet", "--template="],
    ["add", "--all"],
    ["commit", "--quiet", "--message", "Invoices 1.4.0"],
  ];
  for (const step of steps) {
    const done = spawnSync("git", [...SETTINGS, ...step], { cwd: folder, env: gitEnvironment(), encoding: "utf8" });
    if (done.error?.code === "ENOENT") return;
    if (done.status !== 0) throw new Error(`git ${step[0]} failed: ${done.stderr || done.error?.message}`);
  }
}

const SETTINGS = [
  "init.defaultBranch=main",
  "commit.gpgSign=false",
  "core.autocrlf=false",
  "core.hooksPath=/dev/null",
  "gc.auto=0",
  "maintenance.auto=false",
].flatMap((setting) => ["-c", setting]);

/** Without the GIT_* of a surrounding git command, which would point at its repository. */
function gitEnvironment() {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_"));
  const people = ["AUTHOR", "COMMITTER"].flatMap((who) => Object.entries(IDENTITY).map(([what, value]) => [`GIT_${who}_${what}`, value]));
  return Object.fromEntries([...own, ...people, ["GIT_CONFIG_GLOBAL", "/dev/null"], ["GIT_CONFIG_NOSYSTEM", "1"]]);
}

/** What a killed run of this program left behind. */
function sweep(place) {
  for (const name of readdirSync(place)) {
    const pid = /^\.part-(\d+)-/.exec(name)?.[1];
    if (pid && !isAlive(Number(pid))) rmSync(join(place, name), { recursive: true, force: true });
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [place, owner] = process.argv.slice(2);
  if (place === undefined) throw new Error("usage: node prepare.mjs PLACE [OWNER]");
  makeFolders(resolve(place));
  const forge = await startForge(join(resolve(place), "forge"), owner === undefined ? {} : { owner: Number(owner) });
  process.stdout.write(`workspace ${join(resolve(place), "workspace")}\nforge ${forge}\n`);
}
