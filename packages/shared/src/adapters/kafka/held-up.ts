/**
 * Transactions of other producers that stay open. Whoever counts only what was made good stands before them, and with it everything that
 * anybody has written behind them: until the producer's own limit is over (transaction.timeout.ms), or until a person ends them where the
 * brokers know of none. Waiting is right, and a person is told what it waits for.
 *
 * U1. A partition is held up where it goes on behind what may be read, from the same offset on for a while; each such offset is told once.
 */
import { LoopledgerError } from "../../core/errors.ts";
import type { Clock } from "../../ports/index.ts";
import { codeName } from "./broker-codes.ts";
import { registerCodecs } from "./codecs.ts";
import type { KafkaConnection } from "./connection.ts";
import { meetTopic } from "./patience.ts";
import { Topology } from "./topology.ts";
import { askEnds, type PartitionEnd } from "./wire.ts";

/** Milliseconds after which a transaction is told: those of a live producer are over sooner. */
export const HELD_UP_MS = 10_000;
const LOOK_MS = 5_000;
const LOOKS = "looks";

interface Place {
  readonly connection: KafkaConnection;
  readonly topic: string;
  readonly clock: Clock;
}
export interface HeldUpOptions extends Place {
  readonly tell: (error: LoopledgerError) => void;
}

/** What is seen of the ends of a topic's partitions, again and again. */
export class HeldUp {
  readonly #options: HeldUpOptions;
  readonly #held = new Map<number, { readonly at: number; readonly since: number; isTold: boolean }>();

  constructor(options: HeldUpOptions) {
    this.#options = options;
  }

  see(partition: number, { stable, end }: PartitionEnd): void {
    if (stable >= end) {
      if (this.#held.size > 0) this.#held.delete(partition);
      return;
    }
    const now = this.#options.clock.monotonic();
    const held = this.#held.get(partition);
    if (held?.at !== stable) this.#held.set(partition, { at: stable, since: now, isTold: false });
    else if (!held.isTold && now - held.since >= HELD_UP_MS) {
      held.isTold = true;
      this.#options.tell(heldUp(this.#options, { partition, at: stable }));
    }
  }
}

/** Looks every few seconds, for readers whose client does not say how far they may read. What fails is told by whoever reads. Ended by what is returned. */
export function watchHeldUp(options: HeldUpOptions): () => void {
  const { clock } = options;
  const held = new HeldUp(options);
  const topology = topologyOf(options);
  let cancel = (): void => undefined;
  const look = async (): Promise<void> => {
    for (const [partition, end] of await endsOf(topology)) held.see(partition, end);
  };
  const arm = (): void => {
    cancel = clock.after(LOOK_MS, () => void look().catch(() => undefined).then(() => {
      if (!isOver) arm();
    }));
  };
  let isOver = false;
  arm();
  return () => {
    isOver = true;
    cancel();
    topology.close();
  };
}

/** What holds up partitions of a topic for some seconds already; null where nothing does. A second look is made only where the first one found something. */
export async function lookForHeldUp(place: Place): Promise<{ readonly detail: string; readonly fix: string } | null> {
  registerCodecs();
  const topology = topologyOf(place);
  const found = async (): Promise<ReadonlyMap<number, number>> => new Map([...(await endsOf(topology))].flatMap(([partition, { stable, end }]) => (stable < end ? [[partition, stable] as const] : [])));
  try {
    await meetTopic(topology, place.clock);
    const before = await found();
    if (before.size === 0) return null;
    await topology.pause(LOOK_MS);
    for (const [partition, at] of await found()) {
      if (before.get(partition) !== at) continue;
      const { message, next } = heldUp(place, { partition, at });
      return { detail: message, fix: next };
    }
    return null;
  } finally {
    topology.close();
  }
}

function topologyOf({ connection, topic, clock }: Place): Topology {
  return new Topology({ connection, topic, clock, isLedger: false });
}

async function endsOf(topology: Topology): Promise<ReadonlyMap<number, PartitionEnd>> {
  await topology.refresh();
  const partitions = Array.from({ length: topology.partitions }, (_, partition) => partition);
  const ends = new Map<number, PartitionEnd>();
  for (const [leader, led] of topology.byLeader(partitions)) {
    if (leader === null) continue;
    for (const { partition, errorCode, ...end } of await askEnds(await topology.link(leader, LOOKS), topology.topic, led)) {
      if (errorCode !== 0) throw new Error(`Partition ${partition} of ${topology.topic}: ${codeName(errorCode)}.`);
      ends.set(partition, end);
    }
  }
  return ends;
}

/** The offset at which it stands is the one at which the transaction began. */
function heldUp({ connection, topic }: Place, { partition, at }: { readonly partition: number; readonly at: number }): LoopledgerError {
  const tool = `kafka-transactions.sh --bootstrap-server ${connection.brokers.join(",")}`;
  const where = `--topic ${topic} --partition ${partition}`;
  return new LoopledgerError("ledger_unreachable", `Partition ${partition} of ${topic} is held up at offset ${at}: another producer began a transaction there and has not ended it, and what lies behind is read when it is over.`, {
    next: `It ends by itself at its producer's transaction.timeout.ms. Whose it is: \`${tool} describe-producers ${where}\`. Where it outlasts that (\`${tool} find-hanging --topic ${topic}\`), end it: \`${tool} abort ${where} --start-offset ${at}\`.`,
  });
}
