/**
 * How the processes on one data folder wake each other: whoever has committed writes the ledger's end into `ledger.bell`,
 * and the others are told by the file system. Where it does not tell, or a ringer died between its commit and its ring,
 * a look about once a second finds what is new.
 *
 * The bell also remembers, without a flush, how far the ledger had come: a ledger that ends earlier has lost records.
 */
import { closeSync, constants, existsSync, type FSWatcher, openSync, readFileSync, watch, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Clock } from "../../ports/index.ts";

export interface Doorbell {
  ring(end: number): void;
  close(): void;
}

/** How often a process looks by itself. */
const LOOK_MS = 1_000;
const DIGITS = 16;

export function openDoorbell(options: {
  ledgerPath: string;
  ledgerId: string;
  clock: Clock;
  /** Something may be new. */
  heard: () => void;
  /** Called about once a second whether or not anything rang. */
  look: () => void;
}): Doorbell {
  const { ledgerId, clock, heard, look } = options;
  const path = bellPath(options.ledgerPath);
  const fd = openSync(path, constants.O_RDWR | constants.O_CREAT);
  const watcher = startWatching(path, heard);
  let cancel = (): void => {};
  const lookAgain = (): void => {
    cancel = clock.after(LOOK_MS, () => {
      lookAgain();
      look();
    });
  };
  lookAgain();
  return {
    ring: (end) => {
      writeSync(fd, `${ledgerId} ${String(end).padStart(DIGITS, "0")}\n`, 0);
    },
    close: () => {
      cancel();
      watcher?.close();
      closeSync(fd);
    },
  };
}

/** Null where this file system or this machine has no watches to give: the look then does it alone. */
function startWatching(path: string, heard: () => void): FSWatcher | null {
  try {
    const watcher = watch(path, { persistent: false }, heard);
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return null;
  }
}

/** The last position that was announced of this ledger; 0 where nothing was. */
export function announced(ledgerPath: string, ledgerId: string): number {
  const path = bellPath(ledgerPath);
  if (!existsSync(path)) return 0;
  const [id, end] = readFileSync(path, "utf8").split(/\s/);
  return id === ledgerId && end?.length === DIGITS ? Number(end) : 0;
}

function bellPath(ledgerPath: string): string {
  return join(dirname(ledgerPath), "ledger.bell");
}
