import type { Digest, SessionId } from "../core/brand.ts";

/** Content-addressed payloads of a session. Written before the record that names them; a missing one is null, never empty. */
export interface Blobs {
  put(sessionId: SessionId, content: Uint8Array): Promise<Digest>;
  /** Streams a payload of unknown size; at most `bytesMax` are kept, the rest is counted and dropped. */
  open(sessionId: SessionId, bytesMax: number): BlobWriter;
  get(sessionId: SessionId, digest: Digest): Promise<Uint8Array | null>;
}
export interface BlobWriter {
  write(chunk: Uint8Array): Promise<void>;
  /** Bytes seen in all, kept or not. */
  readonly bytes: number;
  finish(): Promise<Digest>;
  abort(): Promise<void>;
}
