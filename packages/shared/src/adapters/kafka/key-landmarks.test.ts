import { expect, it } from "vitest";
import type { Landmarks } from "../../ports/index.ts";
import { readLandmark, writeLandmark } from "./key-landmarks.ts";
import { Reading, Shown } from "./reading.ts";
import type { Topology } from "./topology.ts";
import type { FetchedPart, FetchedRecord } from "./wire.ts";

const topology = { topic: "x.ledger", connection: { ssl: null }, limits: { readMs: 0, writeMs: 0 } } as unknown as Topology;
/** So many records that what was learned of them is worth keeping, and a new landmark once there are a twentieth more. */
const many = 40_000;
const piece = 4_000;

class Shelf implements Landmarks {
  readonly texts: Map<number, string>;
  constructor(texts: ReadonlyMap<number, string> = new Map()) {
    this.texts = new Map(texts);
  }
  load = async (partition: number): Promise<string | null> => this.texts.get(partition) ?? null;
  save = async (partition: number, text: string): Promise<void> => void this.texts.set(partition, text);
  close = async (): Promise<void> => undefined;
}

/** One process that reads a log in memory. */
class LogReading extends Reading {
  readonly #log: readonly string[];
  /** Where it read more than one record. */
  readonly walked: number[] = [];

  constructor(log: readonly string[], store: Landmarks, ledgerId = "l") {
    super({ topology, clock: { now: () => 0, monotonic: () => 0, after: () => () => undefined }, shown: new Shown(), check: async () => undefined, landmarks: { store, ledgerId: () => ledgerId } });
    this.#log = log;
  }
  override async piece(partition: number, { from, bytesMax }: { readonly from: number; readonly bytesMax: number }): Promise<FetchedPart> {
    if (bytesMax > 1 << 20) this.walked.push(from);
    const messages = this.#log.slice(from, from + piece).map((key, at): FetchedRecord => ({
      offset: String(from + at), timestamp: "0", key: Buffer.from(key), value: Buffer.from(`${key} at ${from + at}`), headers: {}, isNoRecord: false,
    }));
    return { partition, errorCode: 0, lastStableOffset: String(this.#log.length), end: String(this.#log.length), messages };
  }
  async of(key: string): Promise<(string | null)[]> {
    return (await this.entriesOf(0, key, 0)).map(({ value }) => value);
  }
}
const old = (count: number): string[] => Array.from({ length: count }, (_, at) => `old-${Math.floor(at / 20)}`);

/** A log that one process has read, and what it has left for the next. */
async function readOnce(count = many): Promise<{ log: string[]; shelf: Shelf }> {
  const [log, shelf] = [old(count), new Shelf()];
  const reading = new LogReading(log, shelf);
  expect(await reading.of("none")).toEqual([]);
  await reading.close();
  return { log, shelf };
}

it("a new process reads for a new session what came after the last one's reading, and for an old one from its first record on", async () => {
  const { log, shelf } = await readOnce();
  log.push("new", "old-7", "new");
  const reading = new LogReading(log, shelf);
  expect(await reading.of("new")).toEqual([`new at ${many}`, `new at ${many + 2}`]);
  expect(reading.walked).toEqual([many]);
  const seven = await reading.of("old-7");
  expect([seven.length, seven[0], seven.at(-1)]).toEqual([21, "old-7 at 140", `old-7 at ${many + 1}`]);
  expect(reading.walked[1]).toBe(140);
});

it("every session's whole history is found by whoever comes later, wherever it begins", async () => {
  const { log, shelf } = await readOnce();
  for (let at = 0; at < 200; at++) log.push(`mixed-${at % 7}`, `old-${at * 9}`);
  for (const key of ["mixed-0", "mixed-6", "old-0", "old-9", "old-1791", "old-1999", "none"]) {
    const reading = new LogReading(log, shelf);
    expect(await reading.of(key)).toEqual(log.flatMap((one, at) => (one === key ? [`${key} at ${at}`] : [])));
  }
});

it("a landmark of another ledger, of a log that was written anew, or of one that ends earlier is left out", async () => {
  const { log, shelf } = await readOnce();
  const anew = [...log.slice(0, 100), "hidden", ...log.slice(101, -1), "another"];
  const shorter = ["hidden", ...log.slice(1, 30_000)];
  for (const [found, ledgerId] of [[["hidden", ...log.slice(1)], "another"], [anew, "l"], [shorter, "l"]] as const) {
    const reading = new LogReading(found, new Shelf(shelf.texts), ledgerId);
    expect(await reading.of("hidden")).toHaveLength(1);
    expect(reading.walked[0]).toBe(0);
  }
});

it("a landmark that is damaged in any place, or was written by a later release, is left out", async () => {
  const { log, shelf } = await readOnce();
  const whole = shelf.texts.get(0) ?? "";
  for (const text of ["", "{}", whole.slice(0, -4), whole.replace(/.$/, (last) => (last === "A" ? "B" : "A")), whole.replace(`"covered":${many}`, `"covered":${many - 1}`), `${whole.startsWith("0") ? 1 : 0}${whole.slice(1)}`]) {
    expect(readLandmark(text)).toBeNull();
    const reading = new LogReading(log, new Shelf(new Map([[0, text]])));
    expect(await reading.of("old-1")).toHaveLength(20);
    expect(reading.walked[0]).toBe(0);
  }
  expect(readLandmark(writeLandmark({ format: 2, ledgerId: "l", partition: 0, covered: 1, last: "" }, []))).toBeNull();
});

it("an older landmark is worth less and is true, and is replaced when enough has come after it", async () => {
  const { log, shelf } = await readOnce();
  const first = shelf.texts.get(0);
  log.push(...Array.from({ length: 19_999 }, (_, at) => `later-${at}`));
  const second = new LogReading(log, shelf);
  expect(await second.of("later-5")).toEqual([`later-5 at ${many + 5}`]);
  await second.close();
  expect(shelf.texts.get(0)).toBe(first);
  log.push("one more");
  const third = new LogReading(log, shelf);
  expect(await third.of("one more")).toHaveLength(1);
  await third.close();
  expect(readLandmark(shelf.texts.get(0) ?? "")?.head.covered).toBe(many + 20_000);
  const fourth = new LogReading(log, shelf);
  expect(await fourth.of("later-5")).toHaveLength(1);
  expect(fourth.walked[0]).toBe(many + 5);
});

it("a store that fails costs the reading, no answer", async () => {
  const broken: Landmarks = { load: () => Promise.reject(new Error("away")), save: () => Promise.reject(new Error("away")), close: async () => undefined };
  const reading = new LogReading(old(many), broken);
  expect(await reading.of("old-3")).toHaveLength(20);
  await reading.close();
});

it("marks and offsets of any size come back as they were written", () => {
  const marks = [[0, 0], [0x3fffffff, 2 ** 45 + 7], [12_345, 2 ** 32]] as const;
  const head = { format: 1, ledgerId: "l", partition: 3, covered: 2 ** 46, last: "x" };
  expect(readLandmark(writeLandmark(head, marks))).toEqual({ head, marks });
});
