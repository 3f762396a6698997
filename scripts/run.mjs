// Starts a file of this checkout on the pinned Node, and brings what it lacks first. It needs nothing
// but some Node >= 20 with npm, and it writes only below this folder.
//
//   node scripts/run.mjs FILE.ts [ARGUMENTS]     runs FILE.ts (path from the root of the checkout)
//   node scripts/run.mjs --pnpm [ARGUMENTS]      runs the pinned pnpm
//   node scripts/run.mjs --install               brings what is missing, and ends
//
// 1. Standard output belongs to the program that is started: installs speak on standard error.
// 2. One install at a time: whoever comes second waits for the lock, then finds the work done.
// 3. The stamp is written last, so an interrupted install is done again and never believed.
// 4. SIGINT, SIGTERM and SIGHUP reach the child; the exit code is the child's.
// 5. Whoever started this may go without a word (npm killed with -9): the child is then told to end.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync,
} from "node:fs";
import { constants } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const windows = process.platform === "win32";
const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const state = join(root, "node_modules", ".bootstrap");
const stamp = join(state, "installed");
const chosenNode = join(state, windows ? "node.txt" : "node");
const lock = join(root, ".cache", "install.lock");
/** pnpm commands that change what is installed: they must not be asked for a frozen install first. */
const CHANGES_INSTALL = new Set(["install", "i", "add", "remove", "rm", "update", "up", "dedupe", "import"]);

class BootstrapError extends Error {}

/** Who started this, as text that changes when one of them is gone: the parent, and above a script of npm the shell between the two has one itself. */
function starters() {
  const parent = process.ppid;
  return process.env.npm_lifecycle_event === undefined ? String(parent) : `${parent} ${parentOf(parent)}`;
}

/** The parent of a process; 0 where nobody can say. */
function parentOf(pid) {
  if (process.platform === "linux") {
    try {
      return Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1).split(" ")[1]);
    } catch {
      return 0;
    }
  }
  if (windows) return 0;
  return Number(spawnSync("ps", ["-o", "ppid=", "-p", String(pid)], { encoding: "utf8" }).stdout);
}

/** Runs a command to its end, forwards the signals that arrive meanwhile, and returns its exit code. */
function run(command, args, options) {
  return new Promise((done, fail) => {
    const child = spawn(command, args, { cwd: root, ...options });
    const lastSentAt = {};
    const forward = (signal) => {
      // A terminal signals the whole group, so the child has had its SIGINT already.
      if (signal === "SIGINT" && process.stdin.isTTY) return;
      // npm passes on what a process group was sent as well: one press is one signal.
      const now = Date.now();
      if (now - (lastSentAt[signal] ?? 0) < 400) return;
      lastSentAt[signal] = now;
      child.kill(signal);
    };
    const signals = windows ? ["SIGINT", "SIGTERM"] : ["SIGINT", "SIGTERM", "SIGHUP"];
    for (const signal of signals) process.on(signal, forward);
    const startedBy = starters();
    const leash = setInterval(() => {
      if (starters() !== startedBy) child.kill("SIGTERM");
    }, 500);
    leash.unref();
    const end = () => {
      clearInterval(leash);
      for (const signal of signals) process.off(signal, forward);
    };
    child.on("error", (error) => { end(); fail(error); });
    child.on("exit", (code, signal) => {
      end();
      done(code ?? 128 + (constants.signals[signal] ?? 0));
    });
  });
}

/** Runs one step of the installation; its output goes to standard error. */
async function step(command, args, { env, problem }) {
  let code;
  try {
    code = await run(command, args, { env, stdio: ["ignore", 2, 2], shell: windows });
  } catch (error) {
    throw new BootstrapError(`${problem}\n  (${command}: ${error.message})`);
  }
  if (code > 128) process.exit(code);
  if (code !== 0) throw new BootstrapError(problem);
}

const pinnedPnpm = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).packageManager;
const pnpmHome = join(root, ".cache", pinnedPnpm.replace("@", "-"));
const pnpmBin = join(pnpmHome, "node_modules", ".bin");
const pnpm = join(pnpmBin, windows ? "pnpm.cmd" : "pnpm");

const environment = {
  ...process.env,
  PATH: [join(root, "node_modules", ".bin"), pnpmBin, process.env.PATH ?? ""].join(delimiter),
  // Stripped sources are kept between runs, so TypeScript starts as fast as built JavaScript.
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(root, "node_modules", ".cache", "node-compile"),
  TURBO_TELEMETRY_DISABLED: "1",
  DO_NOT_TRACK: "1",
  npm_config_update_notifier: "false",
  pnpm_config_update_notifier: "false",
};

/** Digest of every file that an install depends on. */
function manifestDigest() {
  const members = ["packages", "services"].flatMap((group) => {
    const folder = join(root, group);
    return existsSync(folder) ? readdirSync(folder).sort().map((name) => join(group, name, "package.json")) : [];
  });
  const hash = createHash("sha256");
  for (const file of ["package.json", "pnpm-lock.yaml", "pnpm-workspace.yaml", "infra/package.json", ...members]) {
    const path = join(root, file);
    if (existsSync(path)) hash.update(file).update("\0").update(readFileSync(path)).update("\0");
  }
  return hash.digest("hex");
}

function isInstalled() {
  return existsSync(stamp) && existsSync(chosenNode) && readFileSync(stamp, "utf8") === manifestDigest();
}

async function installPnpm() {
  if (existsSync(pnpm)) return;
  rmSync(pnpmHome, { recursive: true, force: true });
  mkdirSync(pnpmHome, { recursive: true });
  writeFileSync(join(pnpmHome, "package.json"), '{ "private": true, "allowScripts": { "pnpm": true } }\n');
  process.stderr.write(`loopledger: fetching ${pinnedPnpm} into .cache (first start only)\n`);
  const options = ["--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"];
  await step("npm", ["install", "--prefix", pnpmHome, ...options, pinnedPnpm], {
    env: environment,
    problem: `Could not fetch ${pinnedPnpm} with npm. The first start needs the npm registry: is there a network, and is a proxy or mirror set where one is needed (npm config get registry)? Later starts need none.`,
  });
}

/** The pinned Node, or the present one where it is new enough; null where there is neither. */
function findNode() {
  const relative = join("node", "bin", windows ? "node.exe" : "node");
  if (existsSync(join(root, "node_modules", relative))) return join("..", relative);
  return Number(process.versions.node.split(".")[0]) >= 24 ? process.execPath : null;
}

async function installPackages() {
  const digest = manifestDigest();
  process.stderr.write("loopledger: installing what the lock file names\n");
  const options = ["--frozen-lockfile", "--prefer-offline", "--reporter=append-only", "--config.confirmModulesPurge=false"];
  await step(pnpm, ["install", ...options], {
    env: environment,
    problem: "The installation did not succeed; its own words stand above. Without a network: connect once, later starts need none. Where a package.json was changed: renew the lock file with `node scripts/run.mjs --pnpm install`.",
  });
  const node = findNode();
  if (node === null) {
    throw new BootstrapError(`Node 24 is needed. This is ${process.version}, and the npm package "node" brought none: are install scripts switched off (npm config get ignore-scripts), or is there no build of it for ${process.platform}-${process.arch}? Install Node 24 and start again.`);
  }
  mkdirSync(state, { recursive: true });
  rmSync(chosenNode, { force: true });
  if (windows) writeFileSync(chosenNode, resolve(state, node));
  else symlinkSync(node, chosenNode);
  writeFileSync(stamp, digest);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

function lockOwner() {
  try {
    return Number(readFileSync(join(lock, "pid"), "utf8"));
  } catch {
    return null;
  }
}

/** Takes the lock by renaming a prepared folder onto its name: that fails while another one stands there. */
function tryLock() {
  const prepared = `${lock}.${process.pid}`;
  rmSync(prepared, { recursive: true, force: true });
  mkdirSync(prepared, { recursive: true });
  writeFileSync(join(prepared, "pid"), String(process.pid));
  try {
    renameSync(prepared, lock);
    return true;
  } catch {
    rmSync(prepared, { recursive: true, force: true });
    return false;
  }
}

/** Puts the lock of a dead process aside; where a live one took the name meanwhile, it gets it back. */
function dropStaleLock(deadPid) {
  const aside = `${lock}.dead.${process.pid}`;
  try {
    renameSync(lock, aside);
    if (readFileSync(join(aside, "pid"), "utf8") !== String(deadPid)) return renameSync(aside, lock);
    return rmSync(aside, { recursive: true, force: true });
  } catch {
    return undefined; // Another process was quicker, and the next round sees its lock.
  }
}

async function withInstallLock(work) {
  let told = false;
  while (!tryLock()) {
    const owner = lockOwner();
    if (owner !== null && !isAlive(owner)) {
      dropStaleLock(owner);
      continue;
    }
    if (!told) process.stderr.write(`loopledger: waiting for the install of process ${owner ?? "?"}\n`);
    told = true;
    await new Promise((next) => setTimeout(next, 100));
  }
  const release = () => rmSync(lock, { recursive: true, force: true });
  process.once("exit", release);
  try {
    await work();
  } finally {
    release();
    process.off("exit", release);
  }
}

async function install() {
  if (!isInstalled()) {
    await withInstallLock(async () => {
      await installPnpm();
      if (!isInstalled()) await installPackages();
    });
  }
  // bin/loopledger compares times only; this tells it that the manifests are as installed.
  utimesSync(stamp, new Date(), new Date());
}

/** Runs a file on the chosen Node. The fourth descriptor is a pipe that closes when this process dies (leash.mjs). */
function launchNode(file, args) {
  const node = windows ? readFileSync(chosenNode, "utf8") : chosenNode;
  const leash = pathToFileURL(join(root, "scripts", "leash.mjs")).href;
  return run(node, [`--import=${leash}`, join(root, file), ...args], {
    env: environment,
    stdio: ["inherit", "inherit", "inherit", "pipe"],
  });
}

async function main([first, ...rest]) {
  if (Number(process.versions.node.split(".")[0]) < 20) {
    throw new BootstrapError(`Node 20 or newer is needed to start; this is ${process.version}. (The program itself then brings the Node that it is pinned to.)`);
  }
  if (first === undefined) throw new BootstrapError("Usage: node scripts/run.mjs FILE.ts [ARGUMENTS] | --pnpm [ARGUMENTS] | --install");
  if (first === "--pnpm") {
    if (!CHANGES_INSTALL.has(rest[0])) await install();
    if (!existsSync(pnpm)) await withInstallLock(installPnpm);
    return run(pnpm, rest, { env: environment, stdio: "inherit", shell: windows });
  }
  await install();
  return first === "--install" ? 0 : launchNode(first, rest);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof BootstrapError)) throw error;
  process.stderr.write(`loopledger: ${error.message}\n`);
  process.exitCode = 1;
}
