/**
 * A map that is never changed: `put` gives a new one that shares all but one path with the old. A tree by the bits of the key's
 * hash, whose leaves hold a few keys each, so that a record costs the same however many keys a session has.
 * Plain JSON, so that a snapshot is `JSON.stringify`.
 */
export interface PMap<V> {
  readonly size: number;
  readonly buckets: Branch<V>;
}
interface Leaf<V> {
  readonly keys: readonly string[];
  readonly values: readonly V[];
}
type Branch<V> = readonly Node<V>[];
type Node<V> = Leaf<V> | Branch<V> | null;

const bits = 4;
const width = 1 << bits;
/** Keys of a leaf before it becomes a branch; at the last level of the hash a leaf grows on. */
const leafMax = 8;
const levels = 32 / bits;
export const emptyMap: PMap<never> = { size: 0, buckets: [] };

/** FNV-1a in 32 bits. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
function slotOf(hash: number, level: number): number {
  return (hash >>> (level * bits)) & (width - 1);
}
function isBranch<V>(node: Leaf<V> | Branch<V>): node is Branch<V> {
  return Array.isArray(node);
}

export function lookUp<V>(map: PMap<V>, key: string): V | undefined {
  if (map.size === 0) return undefined;
  const hash = hashOf(key);
  let node: Node<V> | undefined = map.buckets;
  for (let level = 0; node && isBranch(node); level++) node = node[slotOf(hash, level)];
  const at = node ? node.keys.indexOf(key) : -1;
  return at < 0 ? undefined : node?.values[at];
}

export function put<V>(map: PMap<V>, key: string, value: V): PMap<V> {
  const entry: Entry<V> = { key, value, hash: hashOf(key), isNew: true };
  const buckets = intoBranch(map.buckets, entry, 0);
  return { size: map.size + (entry.isNew ? 1 : 0), buckets };
}

interface Entry<V> {
  readonly key: string;
  readonly value: V;
  readonly hash: number;
  /** Whether the key was not there before; known once it is put in. */
  isNew: boolean;
}

function intoBranch<V>(branch: Branch<V>, entry: Entry<V>, level: number): Branch<V> {
  const slots: Node<V>[] = branch.length === 0 ? new Array<Node<V>>(width).fill(null) : branch.slice();
  const slot = slotOf(entry.hash, level);
  slots[slot] = into(slots[slot] ?? null, entry, level + 1);
  return slots;
}
function into<V>(node: Node<V>, entry: Entry<V>, level: number): Leaf<V> | Branch<V> {
  const { key, value } = entry;
  if (node === null) return { keys: [key], values: [value] };
  if (isBranch(node)) return intoBranch(node, entry, level);
  const at = node.keys.indexOf(key);
  if (at >= 0) {
    entry.isNew = false;
    return { keys: node.keys, values: node.values.with(at, value) };
  }
  if (node.keys.length < leafMax || level >= levels) return { keys: [...node.keys, key], values: [...node.values, value] };
  const split = node.keys.reduce<Branch<V>>((branch, old, i) => intoBranch(branch, { key: old, value: node.values[i] as V, hash: hashOf(old), isNew: true }, level), []);
  return intoBranch(split, entry, level);
}

export function values<V>(map: PMap<V>): V[] {
  return map.size === 0 ? [] : valuesOf(map.buckets);
}
function valuesOf<V>(node: Node<V>): V[] {
  if (node === null) return [];
  return isBranch(node) ? node.flatMap(valuesOf) : [...node.values];
}

/** A member of a plain record whose keys are other people's text; inherited names are no members. */
export function own<V>(record: Readonly<Record<string, V>>, key: string): V | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
