/**
 * What was learned of a partition's keys, handed on from process to process, so that a new process need not read the whole partition to
 * know that a session is new.
 *
 * M1. A landmark says of one ledger, one partition and everything before an offset which keys there are. That stays true for as long as the
 *     log does, so an older one is worth less and is never wrong.
 * M2. It counts only where its own digest is right, and where the ledger itself holds, right before that offset, the very record that was
 *     there when it was written. What is damaged, another ledger's or another log's is left out, and the partition is read.
 * M3. That a landmark is missing, or names no key, proves nothing of what lies at or behind its offset: that is read each time.
 */
import { createHash } from "node:crypto";
import type { Landmarks, LogEntry } from "../../ports/index.ts";
import type { KeyIndex, Mark } from "./key-index.ts";

export interface KeyLandmarksOptions {
  readonly store: Landmarks;
  readonly ledgerId: () => string;
  readonly keys: KeyIndex;
  /** The first entry at or behind an offset. */
  readonly entryAt: (partition: number, offset: number) => Promise<LogEntry | undefined>;
}
/** What stands in front of the marks. */
interface Head {
  readonly format: number;
  readonly ledgerId: string;
  readonly partition: number;
  /** Everything before it is described. */
  readonly covered: number;
  /** Digest of the record before it. */
  readonly last: string;
}

/** To be raised where a release finds that an earlier one wrote what is not true. */
const FORMAT = 1;
/** A new one is written when so many records more are described, and a twentieth of all. */
const GROWTH_MIN = 20_000;
const GROWTH_PART = 20;
/** Longest text that is kept, in characters. */
const TEXT_MAX = 64 << 20;
const MARK_BYTES = 4;
const OFFSET_BYTES = 6;

export class KeyLandmarks {
  readonly #options: KeyLandmarksOptions;
  readonly #prepared = new Map<number, Promise<void>>();
  /** Up to where the last one that was taken or written goes. */
  readonly #kept = new Map<number, number>();
  readonly #saving = new Set<Promise<void>>();

  constructor(options: KeyLandmarksOptions) {
    this.#options = options;
  }

  /** Takes over what is there, once a partition. A failure is as good as nothing: the partition is read then. */
  prepare(partition: number): Promise<void> {
    const prepared = this.#prepared.get(partition) ?? this.#load(partition).catch(() => undefined);
    this.#prepared.set(partition, prepared);
    return prepared;
  }

  /** Writes down what is known, where it has become enough more. Nobody but `close` waits for it. */
  keep(partition: number): void {
    const covered = this.#options.keys.covered(partition);
    if (covered - (this.#kept.get(partition) ?? 0) < Math.max(GROWTH_MIN, covered / GROWTH_PART)) return;
    this.#kept.set(partition, covered);
    const saving = this.#save(partition, covered).catch(() => undefined).finally(() => this.#saving.delete(saving));
    this.#saving.add(saving);
  }
  /** What is being written is there afterwards: a process that was started for one session has read the partition for others too. */
  async close(): Promise<void> {
    await Promise.all(this.#saving);
    await this.#options.store.close();
  }

  async #load(partition: number): Promise<void> {
    const { store, keys, ledgerId } = this.#options;
    const text = await store.load(partition);
    const found = text === null ? null : readLandmark(text);
    if (found === null || found.head.ledgerId !== ledgerId() || found.head.partition !== partition) return;
    const { covered, last } = found.head;
    if (covered <= keys.covered(partition) || (await this.#digestBefore(partition, covered)) !== last) return;
    keys.take(partition, covered, found.marks);
    this.#kept.set(partition, covered);
  }

  async #save(partition: number, covered: number): Promise<void> {
    const { store, keys, ledgerId } = this.#options;
    const last = await this.#digestBefore(partition, covered);
    if (last === null) return;
    const text = writeLandmark({ format: FORMAT, ledgerId: ledgerId(), partition, covered, last }, keys.before(partition, covered));
    if (text.length <= TEXT_MAX) await store.save(partition, text);
  }

  /** Null where no record stands there. */
  async #digestBefore(partition: number, offset: number): Promise<string | null> {
    const entry = await this.#options.entryAt(partition, offset - 1);
    return entry === undefined || entry.offset !== offset - 1 ? null : sha256(JSON.stringify([entry.offset, entry.time, entry.key, entry.value]));
  }
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

export function writeLandmark(head: Head, marks: readonly Mark[]): string {
  const bytes = Buffer.alloc(marks.length * (MARK_BYTES + OFFSET_BYTES));
  let at = 0;
  for (const [mark, first] of marks) {
    at = bytes.writeUInt32LE(mark, at);
    at = bytes.writeUIntLE(first, at, OFFSET_BYTES);
  }
  const said = `${JSON.stringify(head)}\n${bytes.toString("base64")}`;
  return `${sha256(said)}\n${said}`;
}

/** Null where it is not what was written, or was written by a release whose landmarks are not understood. */
export function readLandmark(text: string): { readonly head: Head; readonly marks: readonly Mark[] } | null {
  const [digest = "", head = "", body] = text.split("\n");
  if (body === undefined || sha256(`${head}\n${body}`) !== digest) return null;
  const read = JSON.parse(head) as Head;
  if (read.format !== FORMAT) return null;
  const bytes = Buffer.from(body, "base64");
  const marks: Mark[] = [];
  for (let at = 0; at < bytes.length; at += MARK_BYTES + OFFSET_BYTES) marks.push([bytes.readUInt32LE(at), bytes.readUIntLE(at + MARK_BYTES, OFFSET_BYTES)]);
  return { head: read, marks };
}
