/** Blobs in a folder: `<root>/<session>/<sha256>`, so that a session's payloads can be listed and removed together. */
import { createHash } from "node:crypto";
import { readdirSync, rmSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Digest, SessionId } from "../../core/brand.ts";
import type { Blobs, Clock, Ids } from "../../ports/index.ts";
import { BlobFileWriter, type BlobPlace, blobsError } from "./blob-file.ts";
import { sessionFolder } from "./session-folder.ts";

export interface FolderBlobsOptions {
  /** The store's own folder; made at the first write. */
  readonly folder: string;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** A draft that nobody has touched for so long was left by a process that died. */
const ABANDONED_MS = 86_400_000;

export function openFolderBlobs({ folder, clock, ids }: FolderBlobsOptions): Blobs {
  const drafts = join(folder, ".drafts");
  sweep(drafts, clock.now() - ABANDONED_MS);
  const place = (sessionId: SessionId): BlobPlace => ({ folder: join(folder, sessionFolder(sessionId)), draft: join(drafts, ids.uuid()) });
  const blobs: Blobs = {
    put: async (sessionId, content) => {
      const digest = digestOf(content);
      // Content has one name: what stands there whole is not written again.
      if ((await blobs.get(sessionId, digest)) !== null) return digest;
      const writer = blobs.open(sessionId, content.byteLength);
      try {
        await writer.write(content);
        return await writer.finish();
      } catch (error) {
        await writer.abort();
        throw error;
      }
    },
    open: (sessionId, bytesMax) => new BlobFileWriter(place(sessionId), bytesMax),
    get: async (sessionId, digest) => {
      const hex = /^sha256:([0-9a-f]{64})$/.exec(digest)?.[1];
      if (hex === undefined) return null;
      const path = join(folder, sessionFolder(sessionId), hex);
      const content = await readWhole(path);
      // Damaged content is missing content: it is never handed on as evidence.
      return content !== null && digestOf(content) === digest ? content : null;
    },
  };
  return blobs;
}

function digestOf(content: Uint8Array): Digest {
  return `sha256:${createHash("sha256").update(content).digest("hex")}` as Digest;
}

async function readWhole(path: string): Promise<Uint8Array | null> {
  try {
    return await readFile(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR")) return null;
    throw blobsError(error, path);
  }
}

/** Drafts of dead processes; nobody waits for them, so what cannot be removed is left. */
function sweep(drafts: string, olderThan: number): void {
  try {
    for (const name of readdirSync(drafts)) {
      const path = join(drafts, name);
      if (statSync(path).mtimeMs < olderThan) rmSync(path, { force: true });
    }
  } catch {
    // There is no such folder yet, or another process sweeps it.
  }
}
