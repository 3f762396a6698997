/**
 * Who else has this data folder open: one file a process, touched about once a second, so that a process that is alone has
 * nobody to wake and pays nothing for it. The files decide only whether to ring; a wrong answer costs a second, no record.
 */
import { closeSync, type FSWatcher, mkdirSync, openSync, readdirSync, rmSync, statSync, utimesSync, watch } from "node:fs";
import { join } from "node:path";
import type { Clock, Ids } from "../../ports/index.ts";

export interface Peers {
  readonly isAlone: boolean;
  /** Says that this process is still there, and forgets those that have not said so for a while. */
  beat(): void;
  close(): void;
}

/** A process that has not touched its file for so long is gone, or stopped and will come back by itself. */
const SILENT_MS = 10_000;

export function openPeers(options: { folder: string; clock: Clock; ids: Ids; joined: () => void }): Peers {
  const { clock, joined } = options;
  const folder = join(options.folder, "peers");
  mkdirSync(folder, { recursive: true });
  const own = options.ids.uuid();
  let others = new Set<string>();

  const isSilent = (name: string): boolean => {
    const seen = statSync(join(folder, name), { throwIfNoEntry: false });
    return seen === undefined || clock.now() - seen.mtimeMs > SILENT_MS;
  };
  const list = (): void => {
    const now = new Set(readdirSync(folder).filter((name) => name !== own && !isSilent(name)));
    const isNew = [...now].some((name) => !others.has(name));
    others = now;
    if (isNew) joined();
  };
  const touch = (): void => {
    const path = join(folder, own);
    const seconds = clock.now() / 1_000;
    closeSync(openSync(path, "a"));
    utimesSync(path, seconds, seconds);
  };
  touch();
  list();
  const watcher = watchNames(folder, () => quietly(list));
  return {
    get isAlone() {
      return others.size === 0;
    },
    beat: () => quietly(() => {
      touch();
      for (const name of readdirSync(folder)) if (name !== own && isSilent(name)) rmSync(join(folder, name), { force: true });
      list();
    }),
    close: () => {
      watcher?.close();
      quietly(() => rmSync(join(folder, own), { force: true }));
    },
  };
}

/** Null where this file system or this machine has no watches to give: the beat then finds the others. */
function watchNames(folder: string, changed: () => void): FSWatcher | null {
  try {
    const watcher = watch(folder, { persistent: false }, (event) => {
      if (event === "rename") changed();
    });
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return null;
  }
}

/** A full disk or a folder that is gone shows at the next append; here it only means that nobody is woken early. */
function quietly(call: () => void): void {
  try {
    call();
  } catch {
    // Woken by the look of once a second instead.
  }
}
