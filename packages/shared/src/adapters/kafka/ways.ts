/**
 * How appends to one broker share its connections. A broker answers the requests of a connection one after the other.
 *
 * W1. A way is a connection, and has one request under way at most.
 * W2. One way is enough, and costs least, while the broker answers before this process has done what else there is to do. Where the
 *     process sits idle until the answers come, since every batch is flushed to a disk or copied over a network, much that waits is
 *     shared out on two ways: what belongs to one is worked on while the other is waited for.
 * W3. Little that comes up while a request is under way waits for it: gathered, it is one request later.
 */
import type { AppendLane } from "./append-lane.ts";

export interface Share {
  readonly way: string;
  readonly lanes: readonly AppendLane[];
}

const WAYS: readonly string[] = ["appends", "appends-2"];
/** Less than this is not worth a request of its own. */
const SHARE_BYTES = 32 << 10;
/** Mean idle time in a request from which on two ways are used, and below which one is enough again, in ms. */
const IDLE_MS = { begin: 3, end: 1 } as const;
/** The share of the latest request in the mean. */
const WEIGHT = 1 / 8;

interface Node {
  readonly busy: Set<string>;
  idleMs: number;
  isShared: boolean;
}

/** How long this process has had nothing to do so far, in ms. */
export function idleSoFar(): number {
  return performance.eventLoopUtilization().idle;
}

export class Ways {
  readonly #nodes = new Map<number, Node>();
  readonly #idle: () => number;

  constructor(idle: () => number) {
    this.#idle = idle;
  }

  /** What goes out to a node now, of lanes that have something to send. */
  shares(nodeId: number, lanes: readonly AppendLane[]): readonly Share[] {
    const { busy, isShared } = this.#of(nodeId);
    const [way, other] = WAYS.filter((one) => !busy.has(one));
    if (way === undefined) return [];
    if (!isShared) return busy.size === 0 ? [{ way, lanes }] : [];
    const bytes = lanes.reduce((sum, lane) => sum + lane.bytes, 0);
    if (other === undefined) return bytes < SHARE_BYTES ? [] : [{ way, lanes }];
    if (bytes < 2 * SHARE_BYTES || lanes.length < 2) return [{ way, lanes }];
    const [one, rest] = halves(lanes);
    return [{ way, lanes: one }, { way: other, lanes: rest }];
  }

  /** A request on a way begins; what it gives is called with its bytes when it is over. */
  begin(nodeId: number, way: string): (bytes: number) => void {
    const node = this.#of(nodeId);
    node.busy.add(way);
    const before = this.#idle();
    return (bytes) => {
      node.busy.delete(way);
      if (bytes < SHARE_BYTES) return;
      node.idleMs += (this.#idle() - before - node.idleMs) * WEIGHT;
      node.isShared = node.idleMs >= (node.isShared ? IDLE_MS.end : IDLE_MS.begin);
    };
  }

  #of(nodeId: number): Node {
    let node = this.#nodes.get(nodeId);
    if (node === undefined) {
      node = { busy: new Set(), idleMs: 0, isShared: false };
      this.#nodes.set(nodeId, node);
    }
    return node;
  }
}

/** Two parts that weigh about the same; neither is empty where there are two lanes. */
function halves(lanes: readonly AppendLane[]): readonly [readonly AppendLane[], readonly AppendLane[]] {
  const parts = [{ lanes: [] as AppendLane[], bytes: 0 }, { lanes: [] as AppendLane[], bytes: 0 }];
  const [one, other] = parts as [{ lanes: AppendLane[]; bytes: number }, { lanes: AppendLane[]; bytes: number }];
  for (const lane of [...lanes].sort((a, b) => b.bytes - a.bytes)) {
    const part = one.bytes <= other.bytes ? one : other;
    part.lanes.push(lane);
    part.bytes += lane.bytes;
  }
  return [one.lanes, other.lanes];
}
