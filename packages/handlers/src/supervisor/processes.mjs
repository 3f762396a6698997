/**
 * What this host knows of a run's processes: who they are, and how they are ended. Plain JavaScript with no import but Node's own,
 * because the supervisor starts once for every maker and check.
 *
 * A process is known by its pid *and* its start time, and only within one boot and pid namespace: a pid alone is reused.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, readlinkSync } from "node:fs";

const hasProc = process.platform === "linux";

/** `{ state, ppid, pgid, start }` of a live process, else null. A zombie is dead: it runs nothing and only waits to be reaped. */
export function statOf(pid) {
  if (!hasProc) return statByPs(pid);
  let text;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return null;
  }
  // The name in brackets may hold spaces and brackets itself, so the fields are counted from the last one.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  if (fields[0] === "Z" || fields[0] === "X") return null;
  return { state: fields[0], ppid: Number(fields[1]), pgid: Number(fields[2]), start: fields[19] };
}

function statByPs(pid) {
  try {
    const [line] = execFileSync("ps", ["-o", "stat=,ppid=,pgid=,lstart=", "-p", String(pid)], { encoding: "utf8" }).trim().split("\n");
    const [state, ppid, pgid, ...start] = line.trim().split(/\s+/);
    return state.startsWith("Z") ? null : { state, ppid: Number(ppid), pgid: Number(pgid), start: start.join(" ") };
  } catch {
    return null;
  }
}

let place = null;

/** Names the boot and the pid namespace that a pid of this process belongs to: neither changes while it lives. */
export function placeOf() {
  place ??= readPlace();
  return place;
}
function readPlace() {
  if (!hasProc) return `${execFileSync("sysctl", ["-n", "kern.bootsessionuuid"], { encoding: "utf8" }).trim()} host`;
  return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${readlinkSync("/proc/self/ns/pid")}`;
}

/** `{ pid, start }` of this process. */
export function self() {
  return { pid: process.pid, start: statOf(process.pid)?.start ?? "" };
}

export function isAlive({ pid, start }) {
  return statOf(pid)?.start === start;
}

/**
 * Pids of a run: those of its process group (where `group` is given), those that carry its marker in their environment, and all
 * descendants of these. `since` is the supervisor's start time: nothing older can belong to the run.
 */
export function membersOf({ marker, group, since }) {
  if (!hasProc) return groupByPs(group);
  const young = new Map();
  for (const entry of readdirSync("/proc")) {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const stat = statOf(pid);
    if (stat && BigInt(stat.start) >= BigInt(since)) young.set(pid, stat);
  }
  const members = new Set();
  for (const [pid, stat] of young) {
    if ((group !== null && stat.pgid === group) || carries(pid, marker)) members.add(pid);
  }
  for (let before = -1; before !== members.size; ) {
    before = members.size;
    for (const [pid, stat] of young) if (members.has(stat.ppid)) members.add(pid);
  }
  return [...members];
}

function groupByPs(group) {
  if (group === null) return [];
  try {
    return execFileSync("ps", ["-A", "-o", "pid=,pgid=,stat="], { encoding: "utf8" }).split("\n").map((line) => line.trim().split(/\s+/))
      .filter(([, pgid, state]) => Number(pgid) === group && !state.startsWith("Z")).map(([pid]) => Number(pid));
  } catch {
    return [];
  }
}

function carries(pid, marker) {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, "latin1")}`.includes(`\0LOOPLEDGER_RUN=${marker}\0`);
  } catch {
    return false;
  }
}

function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone, or it is no longer ours to end; the next look tells.
  }
}

/**
 * Ends what `look` finds: SIGTERM once for each, and SIGKILL from `killAt()` on (ms of the monotonic clock), until nothing is left.
 * Looks again each time, because what is told to end may still start something. Gives up after `limitMs` and says false.
 */
export async function endAll(look, { killAt, limitMs = 20_000 }) {
  const told = new Set();
  const giveUpAt = performance.now() + limitMs;
  for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs * 2, 40)) {
    const left = look();
    if (left.length === 0) return true;
    const kill = performance.now() >= killAt();
    if (performance.now() >= giveUpAt) return false;
    for (const pid of left) {
      if (kill) signal(pid, "SIGKILL");
      else if (!told.has(pid)) {
        told.add(pid);
        signal(pid, "SIGTERM");
        // A stopped process hears SIGTERM only when it goes on.
        signal(pid, "SIGCONT");
      }
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
