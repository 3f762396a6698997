/** The checksum of record batches (CRC-32C), eight bytes a turn. */

const polynomial = 0x82f63b78;
const width = 8;
const size = 256;

/** Table k is what a byte leaves behind when k zeros follow it. */
const tables = ((): Int32Array => {
  const all = new Int32Array(width * size);
  for (let byte = 0; byte < size; byte++) {
    let rest = byte;
    for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ polynomial : rest >>> 1;
    all[byte] = rest;
  }
  for (let at = size; at < all.length; at++) {
    const before = all[at - size] ?? 0;
    all[at] = (before >>> 8) ^ (all[before & 0xff] ?? 0);
  }
  return all;
})();

const entry = (table: number, byte: number): number => tables[table * size + byte] as number;

/** Of the bytes from a place to the end, as a number without a sign. */
export function checksum(bytes: Buffer, from: number): number {
  let sum = -1;
  let at = from;
  for (const end = bytes.length - width; at <= end; at += width) {
    const low = sum ^ (bytes[at] as number) ^ ((bytes[at + 1] as number) << 8) ^ ((bytes[at + 2] as number) << 16) ^ ((bytes[at + 3] as number) << 24);
    sum = entry(7, low & 0xff) ^ entry(6, (low >>> 8) & 0xff) ^ entry(5, (low >>> 16) & 0xff) ^ entry(4, low >>> 24)
      ^ entry(3, bytes[at + 4] as number) ^ entry(2, bytes[at + 5] as number) ^ entry(1, bytes[at + 6] as number) ^ entry(0, bytes[at + 7] as number);
  }
  for (; at < bytes.length; at++) sum = (sum >>> 8) ^ entry(0, (sum ^ (bytes[at] as number)) & 0xff);
  return ~sum >>> 0;
}
