/** What a program prints: passed on live, its tail kept as text, the whole kept as a blob where the tail is not all of it. Memory stays bounded. */
import type { Digest, SessionId } from "@loopledger/shared/core/brand";
import type { CycleLog } from "@loopledger/shared/core/events/fields";
import { repairText, tailText } from "@loopledger/shared/core/json";
import type { BlobWriter, Blobs } from "@loopledger/shared/ports";
import type { Redactor } from "../results/redactor.ts";

/** The tail, in bytes. */
const tailBytes = 8192;
/** The most of a run's output that is kept. */
export const logBytesMax = 64 * 1024 * 1024;

export interface OutputOptions {
  readonly blobs: Blobs;
  readonly sessionId: SessionId;
  readonly redactor: Redactor;
  readonly live?: ((chunk: Uint8Array) => void) | undefined;
}

export class Output {
  readonly #options: OutputOptions;
  #bytes = 0;
  #tail: Buffer = Buffer.alloc(0);
  #writer: BlobWriter | null = null;
  #blobLost = false;

  constructor(options: OutputOptions) {
    this.#options = options;
  }

  async write(chunk: Uint8Array): Promise<void> {
    await this.#keep(this.#options.redactor.pass(chunk));
  }

  async finish(): Promise<CycleLog> {
    await this.#keep(this.#options.redactor.rest());
    const blob = await this.#closeBlob();
    return { bytes: this.#bytes, tail: this.tail(), ...(blob === null ? {} : { blob }) };
  }

  /** The end of what was printed, whole characters only. */
  tail(): string {
    let from = 0;
    // A cut inside a character leaves up to three bytes of it.
    if (this.#bytes > this.#tail.length) while (from < 3 && ((this.#tail[from] ?? 0) & 0xc0) === 0x80) from += 1;
    return tailText(repairText(this.#tail.subarray(from).toString("utf8")), tailBytes);
  }

  async #keep(chunk: Uint8Array): Promise<void> {
    if (chunk.length === 0) return;
    this.#options.live?.(chunk);
    await this.#keepInBlob(chunk);
    this.#bytes += chunk.length;
    // Always a copy, so that a large chunk is not held for its last bytes.
    const older = chunk.length >= tailBytes ? this.#tail.subarray(0, 0) : this.#tail.subarray(-Math.max(1, tailBytes - chunk.length));
    this.#tail = Buffer.concat([older, chunk.subarray(-tailBytes)]).subarray(-tailBytes);
  }

  async #keepInBlob(chunk: Uint8Array): Promise<void> {
    if (this.#blobLost || this.#bytes + chunk.length <= tailBytes) return;
    try {
      if (this.#writer === null) {
        this.#writer = this.#options.blobs.open(this.#options.sessionId, logBytesMax);
        // Until now the tail was all that was printed.
        if (this.#bytes > 0) await this.#writer.write(this.#tail);
      }
      await this.#writer.write(chunk);
    } catch {
      await this.#loseBlob();
    }
  }

  async #closeBlob(): Promise<Digest | null> {
    try {
      return this.#writer === null || this.#blobLost ? null : await this.#writer.finish();
    } catch {
      await this.#loseBlob();
      return null;
    }
  }

  /** A log that cannot be stored costs the log, never the run. */
  async #loseBlob(): Promise<void> {
    this.#blobLost = true;
    await this.#writer?.abort().catch(() => undefined);
  }
}
