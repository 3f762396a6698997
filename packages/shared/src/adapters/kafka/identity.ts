/**
 * Which ledger a topic is: the first `ledger_initialised` in the log of partition 0 says it, for ever.
 *
 * I1. Several processes may start a ledger at once: each writes its record to partition 0, and all of them read there who was first.
 * I2. The other partitions get a record with the id that won, before any session's record is written to them.
 * I3. A topic that was deleted and made anew is never taken for the old one: after every failure the record is read again.
 */
import { LoopledgerError } from "../../core/errors.ts";
import { parseRecord } from "../../core/events/parse.ts";
import { ledgerKey } from "../../core/placement.ts";
import type { Clock, Ids, LogEntry } from "../../ports/index.ts";
import { toEntry } from "./entries.ts";
import type { Reading } from "./reading.ts";

const FORMAT = 1;

/** Where a partition says which ledger it belongs to. */
interface Mark {
  readonly offset: number;
  readonly ledgerId: string;
  readonly partitions: number;
}

export interface IdentityOptions {
  readonly topic: string;
  readonly partitions: number;
  readonly reading: Reading;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Writes one record of the store to a partition. */
  readonly write: (partition: number, record: { readonly ledgerId: string; readonly text: string }) => Promise<void>;
}

export interface Identity {
  readonly ledgerId: string;
  /** Throws `ledger_lost` where the partition no longer belongs to this ledger; other errors where that cannot be told. */
  check(partition: number): Promise<void>;
}

/** Finds out which ledger the topic is, and makes it one where it is empty. Throws `ledger_mismatch` for another number of partitions. */
export async function establishIdentity(options: IdentityOptions): Promise<Identity> {
  const { topic, partitions } = options;
  const first = (await find(options, 0)) ?? (await make(options, 0, options.ids.uuid()));
  if (first.partitions !== partitions) {
    throw new LoopledgerError("ledger_mismatch", `The ledger topic ${topic} has ${partitions} partitions, and was begun with ${first.partitions}; the number is fixed for good.`, { next: afterOtherCount(first.partitions) });
  }
  const rest = Array.from({ length: partitions - 1 }, (_, i) => i + 1);
  const marks = [first, ...(await Promise.all(rest.map(async (partition) => (await find(options, partition)) ?? make(options, partition, first.ledgerId))))];
  for (const [partition, mark] of marks.entries()) if (mark.ledgerId !== first.ledgerId) throw foreign(topic, partition, mark.ledgerId);
  return { ledgerId: first.ledgerId, check: (partition) => check(options, partition, marks[partition] as Mark) };
}

/** Kafka never takes a partition away, so no command mends this topic: what is left is a copy of it, or a ledger of its own beside it. */
export function afterOtherCount(partitions: number): string {
  return `Sessions would be looked for in the wrong partition. Put back a topic with ${partitions} partitions, or begin a new ledger: \`LOOPLEDGER_TOPIC_PREFIX=<another> loopledger topics apply\`.`;
}

/** The number of partitions that the ledger was begun with; null where none was begun. Writes nothing. */
export async function partitionsAtBeginning(reading: Reading): Promise<number | null> {
  return (await find({ reading }, 0))?.partitions ?? null;
}

async function check({ topic, reading }: IdentityOptions, partition: number, mark: Mark): Promise<void> {
  const { messages } = await reading.piece(partition, { from: mark.offset, bytesMax: 1, maxWaitMs: 0 });
  const record = messages.find(({ offset }) => Number(offset) === mark.offset);
  const entry = record === undefined ? null : toEntry(partition, record);
  const found = entry === null ? null : readMark(entry);
  if (found?.ledgerId !== mark.ledgerId) throw foreign(topic, partition, found?.ledgerId ?? "none");
}

/** The first mark in a partition's log; null where it has none. */
async function find({ reading }: Pick<IdentityOptions, "reading">, partition: number): Promise<Mark | null> {
  const limit = 500;
  for (let from = 0, count = 1; ; count = limit) {
    const entries = await reading.entries(partition, from, count);
    for (const entry of entries) {
      const mark = readMark(entry);
      if (mark !== null) return mark;
    }
    const last = entries.at(-1);
    if (last === undefined || entries.length < count) return null;
    from = last.offset + 1;
  }
}

async function make(options: IdentityOptions, partition: number, ledgerId: string): Promise<Mark> {
  const { clock, ids, partitions, topic } = options;
  const key = ledgerKey(partition);
  const text = JSON.stringify({
    v: 1, ledgerId, eventId: ids.uuid(), sessionId: key, type: "ledger_initialised", typeVersion: 1,
    at: new Date(clock.now()).toISOString(), actor: { kind: "store", id: "kafka" }, data: { ledgerId, partitions, format: FORMAT },
  });
  await options.write(partition, { ledgerId, text });
  const mark = await find(options, partition);
  if (mark === null) throw new LoopledgerError("ledger_lost", `Partition ${partition} of ${topic} does not hold the record that was just acknowledged.`);
  return mark;
}

function readMark({ partition, key, value, offset }: LogEntry): Mark | null {
  if (key !== ledgerKey(partition)) return null;
  const parsed = parseRecord(value);
  if (parsed.kind !== "record" || parsed.record.type !== "ledger_initialised") return null;
  const { ledgerId, partitions } = parsed.record.data;
  return { offset, ledgerId, partitions };
}

function foreign(topic: string, partition: number, found: string): LoopledgerError {
  return new LoopledgerError("ledger_lost", `Partition ${partition} of ${topic} belongs to another ledger (${found}): the topic was deleted and made anew.`);
}
