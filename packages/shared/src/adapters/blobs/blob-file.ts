/** Writing one blob: to a draft under a name of its own, flushed, then moved to the name that is its digest. */
import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
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
export class BlobFileWriter implements BlobWriter {
  readonly #place: BlobPlace;
  readonly #digest = createHash("sha256");
  #file: FileHandle | null = null;
  #bytes = 0;
  #left: number;
  #isClosed = false;
  #work: Promise<unknown> = Promise.resolve();

  constructor(place: BlobPlace, bytesMax: number) {
    this.#place = place;
    this.#left = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#checkOpen();
    this.#bytes += chunk.byteLength;
    const kept = new Uint8Array(chunk.subarray(0, this.#left));
    this.#left -= kept.byteLength;
    if (kept.byteLength === 0) return;
    this.#digest.update(kept);
    await this.#after(async () => (await this.#opened()).writeFile(kept));
  }

  async finish(): Promise<Digest> {
    this.#checkOpen();
    this.#isClosed = true;
    const hex = this.#digest.digest("hex");
    try {
      await this.#after(() => this.#publish(hex));
    } catch (error) {
      await this.#discard();
      throw error;
    }
    return `sha256:${hex}` as Digest;
  }

  async abort(): Promise<void> {
    this.#isClosed = true;
    await this.#work.catch(() => {});
    await this.#discard();
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new LoopledgerError("blobs_unreachable", "This blob is finished or given up.");
  }

  /** Runs a step after those before it. */
  #after(step: () => Promise<void>): Promise<void> {
    const next = this.#work.then(step).catch((error: unknown) => {
      throw blobsError(error, this.#place.folder);
    });
    this.#work = next;
    // The caller has the error; kept here it is only for the steps that follow.
    next.catch(() => {});
    return next;
  }

  async #opened(): Promise<FileHandle> {
    if (this.#file === null) {
      await mkdir(dirname(this.#place.draft), { recursive: true });
      this.#file = await open(this.#place.draft, "wx");
    }
    return this.#file;
  }

  async #publish(hex: string): Promise<void> {
    const { folder, draft } = this.#place;
    const file = await this.#opened();
    await file.sync();
    await file.close();
    this.#file = null;
    await mkdir(folder, { recursive: true });
    await rename(draft, join(folder, hex));
    await flushFolder(folder);
  }

  async #discard(): Promise<void> {
    await this.#file?.close().catch(() => {});
    this.#file = null;
    await rm(this.#place.draft, { force: true }).catch(() => {});
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
