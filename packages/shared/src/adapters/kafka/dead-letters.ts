/**
 * Dead letters on a topic: key and value as the source had them, and in headers why and where from.
 *
 * K1. A letter that is on the topic already is not written again, as far back as a crash between it and its source's commit can
 *     reach; older repeats, and those of two writers at once, are one letter to every reader.
 * K2. An original that is larger than the topic takes is cut, and says so: it must not hold up its source for ever.
 */
import { isUtf8 } from "node:buffer";
import { isLoopledgerError } from "../../core/errors.ts";
import { headersOfNotes, keptName, type LetterNotes, notesOfHeaders, originalName, pageOfLetters, positionName, replayedHeader } from "../../core/topics/dead-letters.ts";
import type { Clock, DeadLetter, DeadLetterPage, DeadLetterRow, DeadLetters, Ids, NewDeadLetter } from "../../ports/index.ts";
import type { KafkaConnection } from "./connection.ts";
import { Lazily, TopicLog } from "./topic-log.ts";
import { openTopicWriter, type RawRecord, type TopicWriter } from "./topic-writer.ts";
import type { FetchedRecord } from "./wire.ts";

export interface KafkaDeadLettersOptions {
  readonly connection: KafkaConnection;
  /** The topic is `<prefix>.dead-letters`. */
  readonly prefix: string;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Told when an outage begins. */
  readonly log?: ((error: unknown) => void) | undefined;
}

/** Nothing is connected before the first call that needs it. */
export function openKafkaDeadLetters(options: KafkaDeadLettersOptions): DeadLetters {
  return new KafkaDeadLetters(options);
}

/** Offsets of each partition that are looked through before the first letter of a process. */
const LOOK_BACK = 1_000;
/** Ids that are kept in memory. */
const KNOWN_MAX = 50_000;
/** Bytes that are kept of a value that the topic does not take whole, at the first and at the second try. */
const CUTS = [512 << 10, 1 << 10];

class KafkaDeadLetters implements DeadLetters {
  readonly #writer: Lazily<TopicWriter>;
  readonly #log: Lazily<TopicLog>;
  readonly #known = new Set<string>();
  #seen: ReadonlyMap<number, number> | undefined;

  constructor({ connection, prefix, clock, ids, log }: KafkaDeadLettersOptions) {
    const topic = `${prefix}.dead-letters`;
    this.#writer = new Lazily(() => openTopicWriter({ connection, topic, clock, ids, log }), (writer) => writer.close());
    this.#log = new Lazily(() => TopicLog.open({ connection, topic, clock }), (opened) => opened.close());
  }

  async put(letters: readonly NewDeadLetter[]): Promise<void> {
    if (letters.length === 0) return;
    await this.#look();
    const fresh = letters.filter(({ source }) => !this.#known.has(positionName(source)));
    await Promise.all(fresh.map((letter) => this.#write(letter)));
    for (const { source } of fresh) this.#know(positionName(source));
  }

  async list(query: { readonly limit: number; readonly cursor?: string | undefined }): Promise<DeadLetterPage> {
    const rows = new Map<string, DeadLetterRow>();
    const replayed = await this.#walk(({ row }) => {
      if (!rows.has(row.id)) rows.set(row.id, row);
    });
    const { items, next } = pageOfLetters([...rows.values()], query);
    return { items: items.map((row) => ({ ...row, replayedAt: replayed.get(row.id) ?? null })), next };
  }

  async get(id: string): Promise<DeadLetter | null> {
    const found: DeadLetter[] = [];
    const replayed = await this.#walk(({ row, notes, record }) => {
      if (row.id === id && found.length === 0) found.push({ ...row, ...contentOf(record), isCut: notes.cutFrom !== null });
    });
    return found[0] === undefined ? null : { ...found[0], replayedAt: replayed.get(id) ?? null };
  }

  async markReplayed(id: string, at: string): Promise<void> {
    await (await this.#writer.get()).write([{ key: id, value: null, headers: { [replayedHeader]: id, at } }]);
  }

  async close(): Promise<void> {
    await Promise.all([this.#writer.close(), this.#log.close()]);
  }

  /** Learns the ids of what is on the topic since the last look. */
  async #look(): Promise<void> {
    const learn = (record: FetchedRecord): void => {
      const notes = notesOfHeaders(textHeaders(record));
      if (notes !== null) this.#know(positionName(notes.source));
    };
    this.#seen = await this.#log.use((log) => log.walk(learn, { from: this.#seen, lastMax: LOOK_BACK }));
  }

  #know(id: string): void {
    this.#known.add(id);
    if (this.#known.size > KNOWN_MAX) for (const oldest of this.#known) {
      this.#known.delete(oldest);
      break;
    }
  }

  async #write(letter: NewDeadLetter): Promise<void> {
    const writer = await this.#writer.get();
    for (const cut of [null, ...CUTS]) {
      try {
        return await writer.write([recordOf(letter, cut)]);
      } catch (error) {
        if (!isLoopledgerError(error, "batch_too_large") || cut === CUTS.at(-1)) throw error;
      }
    }
  }

  /** Hands on every letter, oldest of a partition first, and gives when letters were put back. */
  async #walk(visit: (found: { readonly row: DeadLetterRow; readonly notes: LetterNotes; readonly record: FetchedRecord }) => void): Promise<ReadonlyMap<string, string>> {
    const replayed = new Map<string, string>();
    await this.#log.use((log) => log.walk((record) => {
      const headers = textHeaders(record);
      const notes = notesOfHeaders(headers);
      if (notes !== null) return visit({ row: rowOf(notes, record), notes, record });
      const { [replayedHeader]: id, at = "" } = headers;
      if (id !== undefined && at > (replayed.get(id) ?? "")) replayed.set(id, at);
    }));
    return replayed;
  }
}

function recordOf(letter: NewDeadLetter, cut: number | null): RawRecord {
  const { source, reason, detail, at, key, value, headers, repeats = {} } = letter;
  const isCut = cut !== null && value !== null;
  const notes = headersOfNotes({ source, reason, detail, at, cutFrom: cut === null ? null : (value?.byteLength ?? 0) });
  // At the last try nothing is left of the original that could be too large.
  const isBare = cut === CUTS.at(-1);
  const kept = isBare ? [] : Object.entries(headers).map(([name, content]) => [keptName(name), content] as const);
  const repeated = isBare ? [] : Object.entries(repeats).map(([name, content]) => [keptName(name), content] as const);
  return {
    key: isBare ? null : key, value: isCut ? value.subarray(0, cut) : value, headers: { ...Object.fromEntries(kept), ...notes }, repeats: Object.fromEntries(repeated),
  };
}

function rowOf({ source, reason, detail, at, cutFrom }: LetterNotes, { key, value }: FetchedRecord): DeadLetterRow {
  const keyText = key === null || !isUtf8(key) ? null : Buffer.from(key).toString("utf8");
  return { id: positionName(source), reason, detail, at, source, keyText, bytes: value === null ? null : (cutFrom ?? value.byteLength), replayedAt: null };
}

function contentOf({ key, value, headers }: FetchedRecord): Pick<DeadLetter, "key" | "value" | "headers" | "repeats"> {
  const originals: Record<string, Uint8Array> = Object.create(null);
  const repeats: Record<string, Uint8Array[]> = Object.create(null);
  for (const name of Object.keys(headers)) {
    const [original, content] = [originalName(name), headers[name]];
    const all = (Array.isArray(content) ? (content as readonly Buffer[]) : content === undefined ? [] : [content as Buffer]).map((one) => new Uint8Array(one));
    const last = all.pop();
    if (original !== null && last !== undefined) originals[original] = last;
    if (original !== null && all.length > 0) repeats[original] = all;
  }
  const repeated = Object.keys(repeats).length > 0 ? { repeats } : {};
  return { key: key === null ? null : new Uint8Array(key), value: value === null ? null : new Uint8Array(value), headers: originals, ...repeated };
}

function textHeaders({ headers }: FetchedRecord): Record<string, string> {
  return Object.fromEntries(Object.keys(headers).flatMap((name) => {
    const content = lastOf(headers[name]);
    return content === null ? [] : [[name, content.toString("utf8")]];
  }));
}

function lastOf(content: FetchedRecord["headers"][string]): Buffer | null {
  return (Array.isArray(content) ? (content as readonly Buffer[]).at(-1) : (content as Buffer | undefined)) ?? null;
}
