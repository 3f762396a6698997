/** Draws from a seed: a thin hand over the seeded stream, which forks by name so that one part of a plan never moves another. */
import { type SeededRandom, seededRandom } from "@loopledger/shared/memory";

export class Draw {
  private readonly random: SeededRandom;
  constructor(random: SeededRandom | number) {
    this.random = typeof random === "number" ? seededRandom(random) : random;
  }
  fork(name: string): Draw {
    return new Draw(this.random.fork(name));
  }
  chance(probability: number): boolean {
    return this.random.next() < probability;
  }
  /** A whole number, both ends included. */
  between(from: number, to: number): number {
    return this.random.between([from, to]);
  }
  pick<T>(from: readonly T[]): T {
    return from[this.between(0, from.length - 1)] as T;
  }
  /** One of these, each as likely as its weight says. */
  weighted<T extends string>(weights: Readonly<Record<T, number>>): T {
    const names = Object.keys(weights) as T[];
    let left = this.random.next() * names.reduce((sum, name) => sum + weights[name], 0);
    for (const name of names) {
      left -= weights[name];
      if (left < 0) return name;
    }
    return names[0] as T;
  }
}
