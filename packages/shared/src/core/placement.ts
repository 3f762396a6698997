/**
 * Where a key lives: the partition that the Java Kafka client would choose, so that programs in any language agree on it.
 * The hash is murmur2 with that client's seed over the key's UTF-8 bytes.
 *
 * P1. The partition is a function of the key and the partition count alone; a retry or another process never moves a key.
 * P2. A lone surrogate counts as U+FFFD, as every UTF-8 encoder writes it.
 */
const SEED = 0x9747b28c;
const M = 0x5bd1e995;
const R = 24;

/** The low 32 bits of a * M: the halves of `a` are multiplied apart because a double holds 53 bits. */
function timesM(a: number): number {
  return ((a & 0xffff) * M + ((((a >>> 16) * M) & 0xffff) << 16)) | 0;
}

function utf8(text: string): number[] {
  const bytes: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const unit = text.codePointAt(i) as number;
    const point = unit >= 0xd800 && unit <= 0xdfff ? 0xfffd : unit;
    if (point < 0x80) bytes.push(point);
    else if (point < 0x800) bytes.push(0xc0 | (point >> 6), 0x80 | (point & 0x3f));
    else if (point < 0x10000) bytes.push(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 0x3f), 0x80 | (point & 0x3f));
    else {
      bytes.push(0xf0 | (point >> 18), 0x80 | ((point >> 12) & 0x3f), 0x80 | ((point >> 6) & 0x3f), 0x80 | (point & 0x3f));
      i++;
    }
  }
  return bytes;
}

/** murmur2 as the Java Kafka client computes it, as a signed 32-bit integer. */
export function murmur2(text: string): number {
  const bytes = utf8(text);
  const whole = bytes.length & ~3;
  const at = (i: number): number => bytes[i] ?? 0;
  let h = (SEED ^ bytes.length) | 0;
  for (let i = 0; i < whole; i += 4) {
    let k = timesM(at(i) | (at(i + 1) << 8) | (at(i + 2) << 16) | (at(i + 3) << 24));
    k = timesM(k ^ (k >>> R));
    h = timesM(h) ^ k;
  }
  if (bytes.length > whole) {
    h = timesM(h ^ (at(whole) | (at(whole + 1) << 8) | (at(whole + 2) << 16)));
  }
  h = timesM(h ^ (h >>> 13));
  return h ^ (h >>> 15);
}

/** Partition of a key among `partitions`; the sign bit is dropped, not negated. */
export function partitionOf(key: string, partitions: number): number {
  return (murmur2(key) & 0x7fffffff) % partitions;
}

/** Partitions of an embedded ledger where nobody says otherwise. */
export const defaultPartitions = 4;

const ledgerKeyPrefix = "_ledger/";
/** The key under which a partition's `ledger_initialised` stands; it is placed by its number, not by its hash. */
export function ledgerKey(partition: number): string {
  return `${ledgerKeyPrefix}${partition}`;
}
/** What stands under such a key is no session's. */
export function isLedgerKey(key: string): boolean {
  return key.startsWith(ledgerKeyPrefix);
}
