/** Seeded randomness: the same seed gives the same faults in the same order, on every machine. */
import { hash } from "node:crypto";
import type { Ids } from "../../ports/index.ts";

export interface SeededRandom {
  /** In [0, 1). */
  next(): number;
  /** True with the given probability; draws nothing where it is 0 or left out, so that an unused fault moves no other. */
  chance(probability: number | undefined): boolean;
  /** A whole number of [from, to], both included; 0 where no range is given. */
  between(range: readonly [number, number] | undefined): number;
  /** A stream of its own, named, that draws nothing from this one. */
  fork(name: string): SeededRandom;
}

/** A counter run through a 32-bit finaliser: each draw depends on seed and count alone. */
export function seededRandom(seed: number | string): SeededRandom {
  let state = Number.parseInt(hash("sha256", String(seed)).slice(0, 8), 16);
  const next = (): number => {
    state = (state + 0x9e3779b9) >>> 0;
    let x = state;
    x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
    x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
    return ((x ^ (x >>> 16)) >>> 0) / 0x100000000;
  };
  return {
    next,
    chance: (probability) => probability !== undefined && probability > 0 && next() < probability,
    between: (range) => (range === undefined ? 0 : range[0] + Math.floor(next() * (range[1] - range[0] + 1))),
    fork: (name) => seededRandom(`${seed}/${name}`),
  };
}

/** Ids drawn from a seed. The digest is the real one. */
export function createSeededIds(seed: number | string): Ids {
  const random = seededRandom(`ids/${seed}`);
  let count = 0;
  return {
    uuid: () => {
      const hex = hash("sha256", `${seed}/${count++}`);
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
    },
    random: random.next,
    sha256: (text) => hash("sha256", text),
  };
}
