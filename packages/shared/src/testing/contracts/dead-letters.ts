/** What every place for dead letters owes: a letter a source position, the original's bytes as they were, newest first. */
import type { DeadLetters, NewDeadLetter } from "../../ports/index.ts";
import { inWorld, type Vitest, type World } from "./suite.ts";

export interface DeadLettersWorld extends World {
  /** Another process's handle. */
  open(): Promise<DeadLetters>;
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const numbers = (content: Uint8Array | null | undefined): number[] | null => (content ? [...content] : null);

function letterAt(offset: number, more: Partial<NewDeadLetter> = {}): NewDeadLetter {
  return {
    source: { topic: "other.goals", partition: 2, offset }, reason: "not_json", detail: `the ${offset}th`, at: new Date(1_800_000_000_000 + offset * 1_000).toISOString(),
    key: bytes("k"), value: bytes(`value ${offset}`), headers: {}, ...more,
  };
}

export function deadLettersContract({ describe, it, expect }: Vitest, name: string, make: () => Promise<DeadLettersWorld>): void {
  describe(`dead letters on ${name}`, () => {
    it("give the original's bytes back, whatever they and its headers are called", inWorld(make, async (world) => {
      const [writer, reader] = [await world.open(), await world.open()];
      const value = Uint8Array.from([0, 255, 254, 10]);
      const headers = { reason: bytes("their own"), "source-offset": bytes("77"), "original-reason": bytes("older"), trace: Uint8Array.from([200, 0]), at: bytes("") };
      const repeats = { reason: [bytes("first"), bytes("second")], trace: [Uint8Array.from([7])] };
      await writer.put([letterAt(1, { value, headers, repeats, key: Uint8Array.from([195, 40]) }), letterAt(2, { value: null, key: null }), letterAt(3, { value: bytes(""), key: bytes("") })]);
      const whole = await reader.get("other.goals-2-1");
      expect(whole).toMatchObject({ id: "other.goals-2-1", reason: "not_json", detail: "the 1th", source: { topic: "other.goals", partition: 2, offset: 1 }, bytes: 4, replayedAt: null, isCut: false });
      expect(numbers(whole?.key)).toEqual([195, 40]);
      expect(numbers(whole?.value)).toEqual([...value]);
      expect(Object.fromEntries(Object.entries(whole?.headers ?? {}).map(([name, content]) => [name, [...content]]))).toEqual(
        Object.fromEntries(Object.entries(headers).map(([name, content]) => [name, [...content]])),
      );
      expect(Object.fromEntries(Object.entries(whole?.repeats ?? {}).map(([name, all]) => [name, all.map((content) => [...content])]))).toEqual(
        { reason: [[...bytes("first")], [...bytes("second")]], trace: [[7]] },
      );
      expect(await reader.get("other.goals-2-2")).toMatchObject({ key: null, value: null, bytes: null, headers: {} });
      const empty = await reader.get("other.goals-2-3");
      expect([numbers(empty?.key), numbers(empty?.value), empty?.bytes]).toEqual([[], [], 0]);
      expect(await reader.get("other.goals-2-4")).toBeNull();
    }));

    it("name the original's key in the list, where it is text", inWorld(make, async (world) => {
      const letters = await world.open();
      await letters.put([letterAt(1), letterAt(2, { key: null }), letterAt(3, { key: Uint8Array.from([255]) }), letterAt(4, { key: bytes("") })]);
      const { items } = await letters.list({ limit: 9 });
      expect(Object.fromEntries(items.map(({ id, keyText }) => [id, keyText]))).toEqual({ "other.goals-2-1": "k", "other.goals-2-2": null, "other.goals-2-3": null, "other.goals-2-4": "" });
    }));

    it("are one letter where a record is set aside again, by another process too", inWorld(make, async (world) => {
      const [one, two, reader] = [await world.open(), await world.open(), await world.open()];
      await one.put([letterAt(1)]);
      await one.put([letterAt(1, { at: new Date(1_900_000_000_000).toISOString() })]);
      await two.put([letterAt(1), letterAt(2)]);
      expect((await reader.list({ limit: 10 })).items.map(({ id }) => id)).toEqual(["other.goals-2-2", "other.goals-2-1"]);
    }));

    it("are listed newest first, a page behind the last row of the one before", inWorld(make, async (world) => {
      const letters = await world.open();
      expect(await letters.list({ limit: 5 })).toEqual({ items: [], next: null });
      await letters.put([2, 5, 1, 4, 3].map((offset) => letterAt(offset, { key: bytes(`key ${offset}`) })));
      const seen: number[] = [];
      let cursor: string | undefined;
      for (let pages = 0; pages < 3; pages++) {
        const page = await letters.list({ limit: 2, cursor });
        seen.push(...page.items.map(({ source }) => source.offset));
        cursor = page.next ?? undefined;
      }
      expect([seen, cursor]).toEqual([[5, 4, 3, 2, 1], undefined]);
      await expect(letters.list({ limit: 2, cursor: "other.goals-9-9" })).rejects.toMatchObject({ code: "invalid_cursor" });
    }));

    it("say when they were last put back", inWorld(make, async (world) => {
      const [one, two] = [await world.open(), await world.open()];
      await one.put([letterAt(1), letterAt(2)]);
      await one.markReplayed("other.goals-2-1", "2027-01-01T00:00:00.000Z");
      await two.markReplayed("other.goals-2-1", "2027-02-01T00:00:00.000Z");
      expect((await two.list({ limit: 5 })).items.map(({ replayedAt }) => replayedAt)).toEqual([null, "2027-02-01T00:00:00.000Z"]);
      expect(await one.get("other.goals-2-1")).toMatchObject({ replayedAt: "2027-02-01T00:00:00.000Z", reason: "not_json" });
    }));
  });
}
