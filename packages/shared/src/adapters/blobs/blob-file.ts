/** Writing one blob: to a draft under a name of its own, flushed, then moved to the name that is its digest. */
import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Digest } from "../../core/brand.ts";
import { LoopledgerError } from "../../core/errors.ts";
import type { BlobWriter } from "../../ports/index.ts";

export interface BlobPlace {
  /** Where the finished blob goes. */
  readonly folder: string;
  readonly draft: string;
}

/** The catalogue's error for whatever the file system said. */
export function blobsError(error: unknown, path: string): unknown {
  if (error instanceof LoopledgerError || !(error instanceof Error && "code" in error)) return error;
  return new LoopledgerError("blobs_unreachable", `The blob store at ${path} cannot be used: ${error.message}.`, { cause: error });
}

/** Calls may overlap; their bytes are kept in the order of the calls. The first error is the answer to every later call. */
export function createBlobWriter(place: BlobPlace, bytesMax: number): BlobWriter {
  const digest = createHash("sha256");
  let file: FileHandle | null = null;
  let bytes = 0;
  let left = bytesMax;
  let closed = false;
  let work: Promise<unknown> = Promise.resolve();

  /** Runs a step after those before it. */
  const then = <T>(step: () => Promise<T>): Promise<T> => {
    const next = work.then(step).catch((error: unknown) => {
      throw blobsError(error, place.folder);
    });
    work = next;
    // The error is the caller's; kept here only so that later steps see it.
    next.catch(() => {});
    return next;
  };
  const opened = async (): Promise<FileHandle> => {
    if (file === null) {
      await mkdir(join(place.draft, ".."), { recursive: true });
      file = await open(place.draft, "wx");
    }
    return file;
  };
  const close = (): void => {
    if (closed) throw new LoopledgerError("blobs_unreachable", "This blob is finished or given up.");
    closed = true;
  };
  return {
    get bytes() {
      return bytes;
    },
    write: async (chunk) => {
      if (closed) throw new LoopledgerError("blobs_unreachable", "This blob is finished or given up.");
      bytes += chunk.byteLength;
      const kept = new Uint8Array(chunk.subarray(0, left));
      left -= kept.byteLength;
      if (kept.byteLength === 0) return void (await then(opened));
      digest.update(kept);
      await then(async () => (await opened()).writeFile(kept));
    },
    finish: async () => {
      close();
      const hex = digest.digest("hex");
      try {
        await then(async () => {
          const handle = await opened();
          await handle.sync();
          await handle.close();
          file = null;
          await mkdir(place.folder, { recursive: true });
          await rename(place.draft, join(place.folder, hex));
          await flushFolder(place.folder);
        });
      } catch (error) {
        await discard();
        throw error;
      }
      return `sha256:${hex}` as Digest;
    },
    abort: async () => {
      closed = true;
      await work.catch(() => {});
      await discard();
    },
  };

  async function discard(): Promise<void> {
    await file?.close().catch(() => {});
    file = null;
    await rm(place.draft, { force: true }).catch(() => {});
  }
}

/** The name of a blob is as durable as its content. */
async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
