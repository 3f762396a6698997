import { createHash } from "node:crypto";
import type { SessionId, Digest } from "@loopledger/shared/core/brand";
import { createMemoryBlobs } from "@loopledger/shared/memory";
import type { Blobs } from "@loopledger/shared/ports";
import { expect, test } from "vitest";
import { makerTask, running, sessionId, workbench } from "../../test/support.ts";
import { Output, logBytesMax } from "./output.ts";
import { Redactor } from "../results/redactor.ts";

/** Blobs that keep nothing and yield on every write, as a disk would. */
function countingBlobs() {
  const seen = { opened: 0, writes: 0, bytes: 0, bytesMax: 0, peak: 0 };
  const digest = `sha256:${"a".repeat(64)}` as Digest;
  const blobs: Blobs = {
    put: async () => digest,
    get: async () => null,
    open: (_: SessionId, bytesMax) => {
      seen.opened += 1;
      seen.bytesMax = bytesMax;
      return {
        write: async (chunk) => {
          seen.bytes += chunk.length;
          seen.writes += 1;
          if (seen.writes % 64 === 0) seen.peak = Math.max(seen.peak, process.memoryUsage.rss());
        },
        get bytes() {
          return seen.bytes;
        },
        finish: async () => digest,
        abort: async () => undefined,
      };
    },
  };
  return { blobs, seen };
}

test("a maker that prints 1 GB is read to its end in bounded memory, and its blob has a cap", async () => {
  const { blobs, seen } = countingBlobs();
  const bench = await workbench({ blobs });
  const before = process.memoryUsage().rss;
  const maker = bench.make({ makers: { m: { exec: "head -c 1000000000 /dev/zero; echo; echo end", shell: true } } }).maker("m");
  const end = await maker?.run(makerTask(), running());
  expect(end).toMatchObject({ kind: "built", result: { summary: "end" }, log: { bytes: 1_000_000_005 } });
  expect(seen).toMatchObject({ opened: 1, bytes: 1_000_000_005, bytesMax: logBytesMax });
  expect(seen.peak - before).toBeLessThan(200 * 1024 * 1024);
}, 90_000);

test("a reader that is slow holds the program back", async () => {
  const blobs = createMemoryBlobs();
  let inHand = 0;
  let most = 0;
  const slow: Blobs = {
    ...blobs,
    open: (session, bytesMax) => {
      const writer = blobs.open(session, bytesMax);
      return {
        ...writer, finish: () => writer.finish(), abort: () => writer.abort(),
        get bytes() {
          return writer.bytes;
        },
        write: async (chunk) => {
          inHand += 1;
          most = Math.max(most, inHand);
          await new Promise((resolve) => setImmediate(resolve));
          await writer.write(chunk);
          inHand -= 1;
        },
      };
    },
  };
  const bench = await workbench({ blobs: slow });
  const end = await bench.make({ makers: { m: { exec: ["seq", "1", "300000"] } } }).maker("m")?.run(makerTask(), running());
  const expected = Array.from({ length: 300_000 }, (_, i) => `${i + 1}\n`).join("");
  expect(end).toMatchObject({ kind: "built", log: { bytes: expected.length, blob: `sha256:${createHash("sha256").update(expected).digest("hex")}` } });
  expect(most).toBe(1);
});

test("what fits into the tail makes no blob, and a blob holds the whole", async () => {
  const { blobs, seen } = countingBlobs();
  const small = new Output({ blobs, sessionId, redactor: new Redactor([]) });
  await small.write(Buffer.from("x".repeat(8192)));
  expect(await small.finish()).toEqual({ bytes: 8192, tail: "x".repeat(8192) });
  expect(seen.opened).toBe(0);
  const memory = createMemoryBlobs();
  const large = new Output({ blobs: memory, sessionId, redactor: new Redactor([]) });
  for (const part of ["a".repeat(5000), "b".repeat(5000), "c"]) await large.write(Buffer.from(part));
  const log = await large.finish();
  expect(log).toMatchObject({ bytes: 10_001, tail: `${"a".repeat(3191)}${"b".repeat(5000)}c` });
  expect(Buffer.from((await memory.get(sessionId, log.blob as Digest)) ?? []).toString()).toBe(`${"a".repeat(5000)}${"b".repeat(5000)}c`);
});

test("a blob store that fails costs the log's blob, not the run", async () => {
  const memory = createMemoryBlobs();
  const broken: Blobs = { ...memory, open: () => { throw new Error("no space"); } };
  const bench = await workbench({ blobs: broken });
  const end = await bench.make({ makers: { m: { exec: ["seq", "1", "5000"] } } }).maker("m")?.run(makerTask(), running());
  expect(end).toMatchObject({ kind: "built", log: { bytes: 23_893, tail: expect.stringMatching(/5000\n$/) } });
  expect((end as { log: object }).log).not.toHaveProperty("blob");
});

test("a secret is found wherever the chunks are cut", () => {
  const secret = "secret-value-12345";
  const text = `before ${secret} between ${secret}${secret} after secret-val`;
  for (let size = 1; size <= text.length; size += 1) {
    const redactor = new Redactor([secret]);
    const parts: Uint8Array[] = [];
    for (let at = 0; at < text.length; at += size) parts.push(redactor.pass(Buffer.from(text.slice(at, at + size))));
    parts.push(redactor.rest());
    expect(Buffer.concat(parts).toString(), `chunks of ${size}`).toBe("before [redacted] between [redacted][redacted] after secret-val");
  }
});
