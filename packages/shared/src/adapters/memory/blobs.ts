/** Blobs in memory, shared by all who hold the object. */
import { createHash } from "node:crypto";
import type { Digest, SessionId } from "../../core/brand.ts";
import { LoopledgerError } from "../../core/errors.ts";
import type { Blobs, BlobWriter } from "../../ports/index.ts";

export interface MemoryBlobs extends Blobs {
  /** Takes one away, as a lost store would. */
  lose(sessionId: SessionId, digest: Digest): void;
}

export function createMemoryBlobs(): MemoryBlobs {
  const blobs = new Map<string, Uint8Array>();
  const nameOf = (sessionId: SessionId, digest: Digest): string => `${sessionId} ${digest}`;
  const put = (sessionId: SessionId, content: Uint8Array): Digest => {
    const digest = `sha256:${createHash("sha256").update(content).digest("hex")}` as Digest;
    blobs.set(nameOf(sessionId, digest), new Uint8Array(content));
    return digest;
  };
  return {
    put: async (sessionId, content) => put(sessionId, content),
    open: (sessionId, bytesMax) => createWriter(bytesMax, (content) => put(sessionId, content)),
    get: async (sessionId, digest) => {
      const content = blobs.get(nameOf(sessionId, digest));
      return content === undefined ? null : new Uint8Array(content);
    },
    lose: (sessionId, digest) => blobs.delete(nameOf(sessionId, digest)),
  };
}

function createWriter(bytesMax: number, put: (content: Uint8Array) => Digest): BlobWriter {
  const kept: Uint8Array[] = [];
  let left = bytesMax;
  let bytes = 0;
  let closed = false;
  const open = (): void => {
    if (closed) throw new LoopledgerError("blobs_unreachable", "This blob is finished or given up.");
  };
  return {
    get bytes() {
      return bytes;
    },
    write: async (chunk) => {
      open();
      bytes += chunk.byteLength;
      if (left > 0) kept.push(new Uint8Array(chunk.subarray(0, left)));
      left = Math.max(0, left - chunk.byteLength);
    },
    finish: async () => {
      open();
      closed = true;
      return put(Buffer.concat(kept));
    },
    abort: async () => {
      closed = true;
      kept.length = 0;
    },
  };
}
