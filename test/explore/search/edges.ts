/** Steps between worlds that are no faults, kept small: two numbers each. */
class Numbers {
  #values = new Int32Array(1 << 16);
  length = 0;
  push(value: number): void {
    if (this.length === this.#values.length) {
      const larger = new Int32Array(this.length * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.length++] = value;
  }
  at(index: number): number {
    return this.#values[index] as number;
  }
}

export class Edges {
  readonly #from = new Numbers();
  readonly #to = new Numbers();

  add(from: number, to: number): void {
    if (from === to) return;
    this.#from.push(from);
    this.#to.push(to);
  }

  /** The first of so many worlds from which none of the goals can be reached; one that leads nowhere at all, if there is one. null = none. */
  firstWithout(worlds: number, goals: readonly number[]): number | null {
    const reaches = this.#reaching(worlds, goals);
    const leads = new Uint8Array(worlds);
    for (let index = 0; index < this.#from.length; index++) leads[this.#from.at(index)] = 1;
    let first: number | null = null;
    for (let world = 0; world < worlds; world++) {
      if (reaches[world]) continue;
      if (!leads[world]) return world;
      first ??= world;
    }
    return first;
  }

  /** Backwards from the goals, over the edges sorted by where they lead. */
  #reaching(worlds: number, goals: readonly number[]): Uint8Array {
    const starts = new Int32Array(worlds + 1);
    for (let index = 0; index < this.#to.length; index++) starts[this.#to.at(index) + 1] = (starts[this.#to.at(index) + 1] as number) + 1;
    for (let world = 0; world < worlds; world++) starts[world + 1] = (starts[world + 1] as number) + (starts[world] as number);
    const free = starts.slice();
    const sources = new Int32Array(this.#from.length);
    for (let index = 0; index < this.#from.length; index++) {
      const to = this.#to.at(index);
      sources[free[to] as number] = this.#from.at(index);
      free[to] = (free[to] as number) + 1;
    }
    const reaches = new Uint8Array(worlds);
    const open = [...goals];
    for (const goal of goals) reaches[goal] = 1;
    for (let world = open.pop(); world !== undefined; world = open.pop()) {
      for (let index = starts[world] as number; index < (starts[world + 1] as number); index++) {
        const source = sources[index] as number;
        if (reaches[source]) continue;
        reaches[source] = 1;
        open.push(source);
      }
    }
    return reaches;
  }
}
