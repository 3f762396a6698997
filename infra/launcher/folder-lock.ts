/**
 * One at a time on a folder. The lock is a folder that is renamed onto its name, which fails while another one stands there;
 * it names its owner by pid and start, so that one whose owner has died is put aside.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { identify, isAlive, type ProcessIdentity } from "./process-identity.ts";
import { pause } from "./waiting.ts";

let taken = 0;

function tryLock(lock: string): boolean {
  const prepared = `${lock}.${process.pid}.${taken++}`;
  mkdirSync(prepared, { recursive: true });
  writeFileSync(join(prepared, "owner.json"), JSON.stringify(identify(process.pid)));
  try {
    renameSync(prepared, lock);
    return true;
  } catch {
    rmSync(prepared, { recursive: true, force: true });
    return false;
  }
}

function ownerOf(lock: string): ProcessIdentity | null {
  try {
    return JSON.parse(readFileSync(join(lock, "owner.json"), "utf8")) as ProcessIdentity;
  } catch {
    return null;
  }
}

/** Puts a dead process's lock aside; where a live one took the name meanwhile, it gets it back. */
function dropStaleLock(lock: string, dead: ProcessIdentity): void {
  const aside = `${lock}.dead.${process.pid}.${taken++}`;
  try {
    renameSync(lock, aside);
    const found = ownerOf(aside);
    if (found !== null && (found.pid !== dead.pid || found.start !== dead.start)) renameSync(aside, lock);
    else rmSync(aside, { recursive: true, force: true });
  } catch {
    // Another process was quicker, and the next round sees its lock.
  }
}

/** In one move: a folder that is emptied under its name could be taken by the next one before it is gone, and that one's owner be removed with it. */
function giveUp(lock: string): void {
  const aside = `${lock}.over.${process.pid}.${taken++}`;
  try {
    renameSync(lock, aside);
  } catch {
    return;
  }
  rmSync(aside, { recursive: true, force: true });
}

/** Runs `work` while this process holds `lock`; `tell` hears once whom it waits for. */
export async function withLock<T>(lock: string, work: () => Promise<T>, tell?: (text: string) => void): Promise<T> {
  let told = false;
  while (!tryLock(lock)) {
    const owner = ownerOf(lock);
    if (owner !== null && !isAlive(owner)) {
      dropStaleLock(lock, owner);
      continue;
    }
    if (!told && owner !== null && owner.pid !== process.pid) tell?.(`waiting for process ${owner.pid}, which works on the same folder`);
    told = true;
    await pause(50);
  }
  const release = (): void => giveUp(lock);
  process.once("exit", release);
  try {
    return await work();
  } finally {
    release();
    process.off("exit", release);
  }
}
