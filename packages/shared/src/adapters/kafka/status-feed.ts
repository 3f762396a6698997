/**
 * The status feed on a compacted topic.
 *
 * S1. The records of a step are handed over in one piece and in order, so they share a request as far as one holds them; what the
 *     last one claims is true once it is there.
 * S2. Only where the topic has as many partitions as the ledger do claims say anything: a session's status and its records then lie
 *     under the same number, and a claim stands behind everything that it speaks of.
 * S3. A claim of having looked through more than stands before it speaks of another topic; and once this process sees that the topic was
 *     made anew, no claim that it finds there counts: a paused writer may have put what it knew of the old one onto it.
 * S4. Values pass through the schema registry where there is one; reading asks no registry.
 */
import type { Offset, SessionId } from "../../core/brand.ts";
import { isLoopledgerError, LoopledgerError } from "../../core/errors.ts";
import { partitionOf } from "../../core/placement.ts";
import { headersOfStatus, notesOfStatus, type StatusNotes } from "../../core/topics/status-headers.ts";
import type { Clock, FeedStep, Ids, Schemas, StatusFeed } from "../../ports/index.ts";
import type { KafkaConnection } from "./connection.ts";
import { textOf } from "./entries.ts";
import { Shown } from "./reading.ts";
import { Lazily, TopicLog } from "./topic-log.ts";
import { openTopicWriter, type RawRecord, type TopicWriter } from "./topic-writer.ts";
import type { FetchedRecord } from "./wire.ts";

export interface KafkaStatusFeedOptions {
  readonly connection: KafkaConnection;
  /** The topic is `<prefix>.status`. */
  readonly prefix: string;
  /** The ledger that statuses are folded from. */
  readonly ledger: { readonly ledgerId: string; readonly partitions: number };
  readonly clock: Clock;
  readonly ids: Ids;
  /** Puts values into the registry's wire format; without it they are plain JSON. */
  readonly schemas?: Schemas | undefined;
  /** Told when an outage begins. */
  readonly log?: ((error: unknown) => void) | undefined;
}

/** Records of each partition among which the latest claim is looked for; a step never writes so many without one. */
const CLAIM_REACH = 2_000;

export function statusTopic(prefix: string): string {
  return `${prefix}.status`;
}

/** Nothing is connected before the first call that needs it. */
export function openKafkaStatusFeed(options: KafkaStatusFeedOptions): StatusFeed {
  return new KafkaStatusFeed(options);
}

class KafkaStatusFeed implements StatusFeed {
  readonly #writer: Lazily<TopicWriter>;
  readonly #options: KafkaStatusFeedOptions;
  readonly #topic: string;
  readonly #log: Lazily<TopicLog>;
  /** How far the topic is known to go. */
  #shown = new Shown();
  /** The topic was made anew: claims before these offsets do not count; null where that is still to be found out. */
  #anewUpTo: ReadonlyMap<number, number> | null = new Map();

  constructor(options: KafkaStatusFeedOptions) {
    const { connection, clock, ids, prefix, log } = options;
    this.#options = options;
    this.#topic = statusTopic(prefix);
    this.#writer = new Lazily(() => openTopicWriter({ connection, topic: this.#topic, clock, ids, log, shown: this.#shown }), (opened) => opened.close());
    this.#log = new Lazily(() => TopicLog.open({ connection, topic: this.#topic, clock, shown: this.#shown }), (opened) => opened.close());
  }

  async write(step: FeedStep): Promise<readonly SessionId[]> {
    const writer = await this.#writer.get();
    const { partitions } = writer;
    const records = await Promise.all(step.statuses.map((status, index) => this.#record(status, { step, isLast: index === step.statuses.length - 1, partitions })));
    const answers = await Promise.allSettled(records.map((record) => writer.write([record])));
    const tooLarge: SessionId[] = [];
    for (const [index, answer] of answers.entries()) {
      if (answer.status === "fulfilled") continue;
      if (!isLoopledgerError(answer.reason, "batch_too_large")) throw await this.#judged(answer.reason);
      tooLarge.push((step.statuses[index] as FeedStep["statuses"][number]).sessionId);
    }
    return tooLarge;
  }

  async claims(): Promise<{ fed: ReadonlyMap<number, Offset>; looked: ReadonlyMap<number, number> }> {
    const fed = new Map<number, Offset>();
    const looked = new Map<number, number>();
    const { partitions } = await this.#writer.get();
    const ends = await this.#walk({ lastMax: CLAIM_REACH }, ({ key, offset }, notes) => {
      if (notes === null || notes.looked === null || notes.ledgerId !== this.#options.ledger.ledgerId || !this.#areClaims(partitions)) return;
      const place = placeOf(key, partitions);
      if (notes.looked > Number(offset) || this.#anewUpTo === null || Number(offset) < (this.#anewUpTo.get(place) ?? 0)) return;
      const { partition, offset: folded } = notes.position;
      if (folded > (fed.get(partition) ?? 0)) fed.set(partition, folded);
      if (notes.looked > (looked.get(place) ?? 0)) looked.set(place, notes.looked);
    });
    this.#anewUpTo ??= ends;
    return { fed, looked };
  }

  async read(from: ReadonlyMap<number, number>, visit: Parameters<StatusFeed["read"]>[1]): Promise<ReadonlyMap<number, number>> {
    const { partitions } = await this.#writer.get();
    const begins = new Map(Array.from({ length: partitions }, (_, partition) => [partition, from.get(partition) ?? Number.POSITIVE_INFINITY]));
    return this.#walk({ from: begins }, ({ key, value, offset }, notes) => {
      // A key that was taken away on purpose stays away.
      if (key === null || value === null) return;
      const ours = notes?.ledgerId === this.#options.ledger.ledgerId ? notes : null;
      visit({
        sessionId: key.toString("utf8") as SessionId, document: textOf(value) ?? "", partition: placeOf(key, partitions), offset: Number(offset),
        position: ours?.position ?? null, claims: (ours?.looked ?? null) !== null && this.#areClaims(partitions),
      });
    });
  }

  async close(): Promise<void> {
    await Promise.all([this.#writer.close(), this.#log.close()]);
  }

  async #record({ sessionId, document }: FeedStep["statuses"][number], { step, isLast, partitions }: Place): Promise<RawRecord> {
    const { schemas, ledger: { ledgerId } } = this.#options;
    const { partition, position, claim } = step;
    const looked = claim !== undefined && isLast ? (claim.looked.get(partitionOf(sessionId, partitions)) ?? 0) : null;
    return {
      key: sessionId, value: schemas === undefined ? document : await schemas.encode(this.#topic, document),
      headers: headersOfStatus({ ledgerId, position: { partition, offset: position }, looked }),
    };
  }

  #areClaims(partitions: number): boolean {
    return partitions === this.#options.ledger.partitions;
  }

  async #walk(reach: Parameters<TopicLog["walk"]>[1], visit: (record: FetchedRecord, notes: StatusNotes | null) => void): Promise<ReadonlyMap<number, number>> {
    try {
      const ends = await this.#log.use((log) => log.walk((record) => visit(record, notesOfStatus(textHeaders(record))), reach));
      return ends;
    } catch (error) {
      throw await this.#judged(error);
    }
  }

  /** A topic that is another one now is none that a ledger is lost with: it is begun anew. */
  async #judged(error: unknown): Promise<unknown> {
    if (!isLoopledgerError(error, "ledger_lost")) return error;
    this.#shown = new Shown();
    this.#anewUpTo = null;
    await Promise.all([this.#writer.renew(), this.#log.renew()]);
    return new LoopledgerError("ledger_unreachable", `The topic ${this.#topic} was emptied or made anew: ${error.message}`, { cause: error });
  }
}

interface Place { readonly step: FeedStep; readonly isLast: boolean; readonly partitions: number }

function placeOf(key: Buffer | null, partitions: number): number {
  return partitionOf(key?.toString("utf8") ?? "", partitions);
}

function textHeaders({ headers }: FetchedRecord): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).flatMap(([name, content]) => {
    const last = Array.isArray(content) ? (content as readonly Buffer[]).at(-1) : (content as Buffer | undefined);
    return last === undefined ? [] : [[name, last.toString("utf8")]];
  }));
}
