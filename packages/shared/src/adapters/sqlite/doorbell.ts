/**
 * How the processes on one data folder wake each other: whoever has committed writes the ledger's end into `ledger.bell`,
 * and the others are told by the file system. Where it does not tell, or a ringer died between its commit and its ring,
 * a look about once a second finds what is new. A process that is alone rings once a second, for the record only.
 *
 * The bell also remembers, without a flush, how far the ledger had come: a ledger that ends earlier has lost records.
 */
import { closeSync, constants, existsSync, type FSWatcher, openSync, readFileSync, watch, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Clock, Ids } from "../../ports/index.ts";
import { openPeers } from "./peers.ts";
import type { Reactor } from "./reactor.ts";

export interface Doorbell {
  /** Something was committed up to `end`. */
  ring(end: number): void;
  close(): void;
}

export interface DoorbellOptions {
  readonly ledgerPath: string;
  readonly ledgerId: string;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Something may be new. */
  readonly heard: () => void;
  /** Called about once a second whether or not anything rang. */
  readonly look: () => void;
  /** Keeps both going: what one of them throws is told there. */
  readonly reactor: Reactor;
}

/** How often a process looks by itself. */
const LOOK_MS = 1_000;
const DIGITS = 16;

export function openDoorbell({ ledgerPath, ledgerId, clock, ids, heard, look, reactor }: DoorbellOptions): Doorbell {
  const path = bellPath(ledgerPath);
  const fd = openSync(path, constants.O_RDWR | constants.O_CREAT);
  /** Each for itself: one that fails keeps none of the others from their turn. */
  const guarded = (key: string, call: () => void) => (): void => {
    try {
      call();
      reactor.works(key);
    } catch (error) {
      reactor.failed(error, key);
    }
  };
  const watcher = startWatching(path, guarded("heard", heard));
  let end = 0;
  let rung = 0;
  const write = (): void => {
    if (end <= rung) return;
    rung = end;
    try {
      writeSync(fd, `${ledgerId} ${String(end).padStart(DIGITS, "0")}\n`, 0);
    } catch {
      // A bell that cannot be written on a full disk wakes nobody early; the others' own look finds the commit.
    }
  };
  const peers = openPeers({
    folder: dirname(ledgerPath), clock, ids,
    joined: () => {
      rung = 0;
      write();
    },
  });
  const turns = [guarded("beat", () => peers.beat()), write, guarded("look", look)];
  let cancel = (): void => {};
  const lookAgain = (): void => {
    cancel = reactor.after(LOOK_MS, () => {
      lookAgain();
      for (const turn of turns) turn();
    });
  };
  lookAgain();
  return {
    ring: (committed) => {
      end = committed;
      if (!peers.isAlone) write();
    },
    close: () => {
      cancel();
      write();
      peers.close();
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
