/** What a running cycle of this host prints, as it prints it. Told by the folder's own changes, not by asking again and again. */
import { type FSWatcher, closeSync, mkdirSync, openSync, readSync, watch } from "node:fs";
import { join } from "node:path";
import { liveFileName } from "@loopledger/handlers/exec/live-file";
import { sessionFolder } from "@loopledger/shared/blobs";

const chunkBytes = 65_536;

export class LiveTail {
  readonly #path: string;
  readonly #show: (chunk: Uint8Array) => void;
  readonly #watcher: FSWatcher | null;
  #open = false;
  #shown = 0;

  constructor(at: { readonly dataFolder: string; readonly sessionId: string; readonly show: (chunk: Uint8Array) => void }) {
    const folder = join(at.dataFolder, "runs", sessionFolder(at.sessionId));
    this.#path = join(folder, liveFileName);
    this.#show = at.show;
    this.#watcher = watchFolder(folder, () => this.#read());
  }

  /** A cycle has begun; what it printed so far is shown at once. */
  begin(): void {
    this.#open = true;
    this.#shown = 0;
    this.#read();
  }
  /** The cycle is over; how many bytes of it were shown. */
  end(): number {
    const shown = this.#open ? this.#shown : 0;
    this.#open = false;
    this.#shown = 0;
    return shown;
  }
  close(): void {
    this.#open = false;
    this.#watcher?.close();
  }

  #read(): void {
    if (!this.#open) return;
    let file: number;
    try {
      file = openSync(this.#path, "r");
    } catch {
      return;
    }
    try {
      const buffer = Buffer.alloc(chunkBytes);
      for (let read = readSync(file, buffer, 0, chunkBytes, this.#shown); read > 0; read = readSync(file, buffer, 0, chunkBytes, this.#shown)) {
        this.#shown += read;
        this.#show(buffer.subarray(0, read));
      }
    } finally {
      closeSync(file);
    }
  }
}

/** Null where the folder cannot be watched: the log is then shown cycle by cycle. */
function watchFolder(folder: string, changed: () => void): FSWatcher | null {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const watcher = watch(folder, { persistent: false }, changed);
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return null;
  }
}
