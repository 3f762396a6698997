/** What a running cycle prints, beside its other records of this host, so that anybody here can watch it. It goes when the run is over. */
import { type WriteStream, createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";

/** In the session's folder; begun anew by each run. */
export const liveFileName = "live.log";
/** More than this is not shown live; the log has it. */
const bytesMax = 64 * 1024 * 1024;

export interface LiveFile {
  write(chunk: Uint8Array): void;
  close(): Promise<void>;
}

/** Made at the first output. Watching is a convenience: where the file cannot be written, the run goes on without it. */
export function openLiveFile(sessionFolder: string): LiveFile {
  const path = join(sessionFolder, liveFileName);
  let stream: WriteStream | null = null;
  let ended: Promise<unknown> = Promise.resolve();
  let bytes = 0;
  const open = (): WriteStream => {
    const opened = createWriteStream(path, { flags: "w", mode: 0o600 });
    ended = new Promise<void>((resolve) => opened.once("close", () => resolve()));
    opened.on("error", () => {
      bytes = bytesMax;
    });
    return opened;
  };
  return {
    write: (chunk) => {
      if (bytes >= bytesMax) return;
      bytes += chunk.byteLength;
      stream ??= open();
      // The chunk's memory may be used again by who gave it.
      stream.write(Buffer.from(chunk));
    },
    close: async () => {
      stream?.end();
      await ended;
      await rm(path, { force: true }).catch(() => undefined);
    },
  };
}
