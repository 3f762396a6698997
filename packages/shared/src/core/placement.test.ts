import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { murmur2, partitionOf } from "./placement.ts";

describe("placement", () => {
  it.each([
    ["21", -973932308],
    ["foobar", -790332482],
    ["a-little-bit-long-string", -985981536],
    ["a-little-bit-longer-string", -1486304829],
    ["lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971],
    ["abc", 479470107],
  ])("hashes %s as the Java client does", (key, hash) => {
    expect(murmur2(key)).toBe(hash);
  });

  it("hashes the UTF-8 bytes of a key as an independent reckoning in wide integers does", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), (key) => {
        expect(murmur2(key)).toBe(wideMurmur2(new TextEncoder().encode(key)));
      }),
    );
  });

  it("gives every key one partition within the count", () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 100 }), (key, partitions) => {
        const partition = partitionOf(key, partitions);
        expect(partition).toBeGreaterThanOrEqual(0);
        expect(partition).toBeLessThan(partitions);
        expect(partitionOf(key, partitions)).toBe(partition);
      }),
    );
  });
});

/** The same hash in BigInt: slow, and with nothing in common with the 32-bit arithmetic under test. */
function wideMurmur2(bytes: Uint8Array): number {
  const m = 0x5bd1e995n;
  const wrap = (value: bigint) => BigInt.asUintN(32, value);
  let h = wrap(0x9747b28cn ^ BigInt(bytes.length));
  let i = 0;
  for (; i + 4 <= bytes.length; i += 4) {
    let k = wrap(BigInt(new DataView(bytes.buffer, bytes.byteOffset).getUint32(i, true)) * m);
    k = wrap((k ^ (k >> 24n)) * m);
    h = wrap(h * m) ^ k;
  }
  if (i < bytes.length) {
    for (let j = bytes.length - 1; j >= i; j--) h ^= BigInt(bytes[j] as number) << BigInt(8 * (j - i));
    h = wrap(h * m);
  }
  h = wrap((h ^ (h >> 13n)) * m);
  return Number(BigInt.asIntN(32, h ^ (h >> 15n)));
}
