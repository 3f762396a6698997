/**
 * Looks at every world that can be reached, the nearest first, so that the first breach found is one of the shortest.
 *
 * Worlds are known by a digest of 53 bits of their text. A search that was not cut off has seen all of them; then it also knows
 * whether an end stays in reach of each, without another fault.
 */
import type { Configuration } from "../model/configuration.ts";
import { Model } from "../model/model.ts";
import { type World, textOf } from "../model/world.ts";
import { Edges } from "./edges.ts";
import { digest53 } from "./digest.ts";

export interface Limits {
  readonly worldsMax: number;
}
export interface Found {
  readonly configuration: string;
  readonly worlds: number;
  /** Nodes of the log: states of the fold that differ in what may follow. */
  readonly nodes: number;
  readonly depth: number;
  /** Every world that can be reached was looked at. */
  readonly isComplete: boolean;
  /** Worlds in which the session is over. */
  readonly overs: number;
  readonly breach: string | null;
  /** The shortest way to the breach; a line that begins with `*` is a fault. */
  readonly trace: readonly string[];
}

const noEnd = "no end can be reached any more";

export function search(configuration: Configuration, { worldsMax }: Limits): Found {
  const model = new Model(configuration);
  const ids = new Map<number, number>([[digest53(textOf(model.start)), 0]]);
  const from: number[] = [-1];
  const taken: number[] = [-1];
  const edges = new Edges();
  const overs: number[] = [];
  let level: { readonly id: number; readonly world: World }[] = [{ id: 0, world: model.start }];
  let depth = 0;
  const found = (rest: Pick<Found, "breach" | "trace" | "isComplete">): Found =>
    ({ configuration: configuration.name, worlds: from.length, nodes: model.ground.nodes.count, depth, overs: overs.length, ...rest });

  for (; level.length > 0; depth++) {
    const following: typeof level = [];
    for (const [index, { id, world }] of level.entries()) {
      if (from.length >= worldsMax) return cut([...level.slice(index), ...following].map((one) => one.id));
      if (model.isOver(world)) overs.push(id);
      for (const [number, step] of model.next(world).entries()) {
        if (step.breach !== undefined) return found({ breach: step.breach, trace: traceTo(model, { from, taken, last: id, number }), isComplete: false });
        const key = digest53(textOf(step.world));
        const known = ids.get(key);
        const next = known ?? from.length;
        if (known === undefined) {
          ids.set(key, next);
          from.push(id);
          taken.push(number);
          following.push({ id: next, world: step.world });
        }
        if (!step.isFault) edges.add(id, next);
      }
    }
    level = following;
  }
  return ended(true, []);

  function cut(unseen: readonly number[]): Found {
    return ended(false, unseen);
  }
  /** Worlds that were not looked at any more count as if an end could be reached from them. */
  function ended(isComplete: boolean, unseen: readonly number[]): Found {
    const lost = edges.firstWithout(from.length, [...overs, ...unseen]);
    if (lost === null) return found({ breach: null, trace: [], isComplete });
    return found({ breach: noEnd, trace: traceTo(model, { from, taken, last: lost, number: null }), isComplete });
  }
}

interface Way { readonly from: readonly number[]; readonly taken: readonly number[]; readonly last: number; readonly number: number | null }
function traceTo(model: Model, { from, taken, last, number }: Way): string[] {
  const numbers = number === null ? [] : [number];
  for (let id = last; (from[id] as number) >= 0; id = from[id] as number) numbers.unshift(taken[id] as number);
  const lines: string[] = [];
  let world = model.start;
  for (const one of numbers) {
    const step = model.next(world)[one];
    if (!step) throw new RangeError("the way cannot be walked again");
    lines.push(`${step.isFault ? "* " : "  "}${step.label}`);
    world = step.world;
  }
  return lines;
}
