/**
 * A map that is never changed: `put` gives a new one that shares all but one bucket with the old.
 * Plain JSON, so that a snapshot is `JSON.stringify`. It keeps the fold's cost per record flat however many keys a session has.
 */
export interface PMap<V> {
  readonly size: number;
  readonly buckets: readonly (Readonly<Record<string, V>> | null)[];
}

const width = 256;
export const emptyMap: PMap<never> = { size: 0, buckets: [] };

function bucketOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hash = mix(hash ^ key.charCodeAt(i));
  return (hash >>> 0) % width;
}
/** One FNV-1a round in 32 bits. */
function mix(hash: number): number {
  return (hash + (hash << 1) + (hash << 4) + (hash << 7) + (hash << 8) + (hash << 24)) | 0;
}

export function lookUp<V>(map: PMap<V>, key: string): V | undefined {
  const bucket = map.buckets[bucketOf(key)];
  return bucket && Object.hasOwn(bucket, key) ? bucket[key] : undefined;
}

export function put<V>(map: PMap<V>, key: string, value: V): PMap<V> {
  const at = bucketOf(key);
  const buckets = map.size === 0 ? new Array<Readonly<Record<string, V>> | null>(width).fill(null) : map.buckets.slice();
  const old = buckets[at] ?? null;
  buckets[at] = { ...old, [key]: value };
  return { size: map.size + (old && Object.hasOwn(old, key) ? 0 : 1), buckets };
}

export function values<V>(map: PMap<V>): V[] {
  return map.buckets.flatMap((bucket) => (bucket ? Object.values(bucket) : []));
}

/** A member of a plain record whose keys are other people's text; inherited names are no members. */
export function own<V>(record: Readonly<Record<string, V>>, key: string): V | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
