/** What every blob store owes: content under its digest, whole or not at all. */
import { createHash } from "node:crypto";
import fc from "fast-check";
import type { Digest, SessionId } from "../../core/brand.ts";
import type { Blobs } from "../../ports/index.ts";
import { inWorld, type Vitest, type World } from "./suite.ts";

export interface BlobsWorld extends World {
  /** Another process's handle on the same store. */
  open(): Promise<Blobs>;
}

const session = (name: string): SessionId => name as SessionId;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const digestOf = (content: Uint8Array): Digest => `sha256:${createHash("sha256").update(content).digest("hex")}` as Digest;
const text = (content: Uint8Array | null): string | null => (content === null ? null : new TextDecoder().decode(content));

export function blobsContract(vitest: Vitest, name: string, make: () => Promise<BlobsWorld>): void {
  vitest.describe(`blobs on ${name}`, () => {
    whole(vitest, make);
    streamed(vitest, make);
  });
}

function whole({ it, expect }: Vitest, make: () => Promise<BlobsWorld>): void {
  it("gives content back under its digest, to every process", inWorld(make, async (world) => {
    const [one, two] = [await world.open(), await world.open()];
    const content = bytes("évidence");
    const digest = await one.put(session("s"), content);
    expect(digest).toBe(digestOf(content));
    expect(text(await two.get(session("s"), digest))).toBe("évidence");
  }));

  it("tells missing from empty", inWorld(make, async (world) => {
    const blobs = await world.open();
    expect(await blobs.get(session("s"), digestOf(bytes("never")))).toBeNull();
    const empty = await blobs.put(session("s"), new Uint8Array());
    expect((await blobs.get(session("s"), empty))?.byteLength).toBe(0);
    expect(await blobs.get(session("s"), "sha256:../../x" as Digest)).toBeNull();
  }));

  it("takes the same content any number of times, also at once", inWorld(make, async (world) => {
    const [one, two] = [await world.open(), await world.open()];
    const content = bytes("same".repeat(10_000));
    const digests = await Promise.all(Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? one : two).put(session("s"), content)));
    expect(new Set(digests)).toEqual(new Set([digestOf(content)]));
    expect(Buffer.compare((await one.get(session("s"), digestOf(content))) ?? bytes(""), content)).toBe(0);
  }));

  it("keeps sessions apart, whatever their ids are made of", inWorld(make, async (world) => {
    const blobs = await world.open();
    const names = [".", "..", "...", "a:b", "a.b", ":", "-", "a", "..a", "%2E", ":".repeat(128), `${":".repeat(127)}a`, "x".repeat(128)];
    const digests = await Promise.all(names.map((name) => blobs.put(session(name), bytes(`of ${name}`))));
    for (const [i, name] of names.entries()) {
      for (const [j, digest] of digests.entries()) {
        expect(text(await blobs.get(session(name), digest))).toBe(i === j ? `of ${name}` : null);
      }
    }
  }));
}

function streamed({ it, expect }: Vitest, make: () => Promise<BlobsWorld>): void {
  it("keeps the first bytes up to the cap, in any pieces, and counts all", inWorld(make, async (world) => {
    const blobs = await world.open();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 12 }), fc.nat(200), async (chunks, bytesMax) => {
        const writer = blobs.open(session("stream"), bytesMax);
        await Promise.all(chunks.map((chunk) => writer.write(chunk)));
        const all = Buffer.concat(chunks);
        const kept = all.subarray(0, bytesMax);
        expect(writer.bytes).toBe(all.byteLength);
        const digest = await writer.finish();
        expect(digest).toBe(digestOf(kept));
        expect(Buffer.compare((await blobs.get(session("stream"), digest)) ?? bytes("missing"), kept)).toBe(0);
      }),
      { numRuns: 25 },
    );
  }));

  it("copies what it is given: the caller may use its buffer again", inWorld(make, async (world) => {
    const blobs = await world.open();
    const buffer = Buffer.from("first");
    const writer = blobs.open(session("reuse"), 100);
    const written = writer.write(buffer);
    buffer.write("other");
    await written;
    expect(text(await blobs.get(session("reuse"), await writer.finish()))).toBe("first");
  }));

  it("leaves nothing of what is given up or not finished", inWorld(make, async (world) => {
    const blobs = await world.open();
    const given = blobs.open(session("up"), 100);
    await given.write(bytes("half"));
    await given.abort();
    await given.abort();
    const open = blobs.open(session("up"), 100);
    await open.write(bytes("open"));
    expect(await blobs.get(session("up"), digestOf(bytes("half")))).toBeNull();
    expect(await blobs.get(session("up"), digestOf(bytes("open")))).toBeNull();
    await expect(given.write(bytes("more"))).rejects.toMatchObject({ code: "blobs_unreachable" });
    await expect(given.finish()).rejects.toMatchObject({ code: "blobs_unreachable" });
    await open.abort();
  }));
}
