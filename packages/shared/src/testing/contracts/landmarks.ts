/** What every store of landmarks owes: a cache, one text a partition, that fails by having nothing and never by throwing. */
import type { Landmarks } from "../../ports/index.ts";
import { inWorld, type Vitest, type World } from "./suite.ts";

export interface LandmarksWorld extends World {
  /** Another process's handle on the same store. */
  open(): Promise<Landmarks>;
  /** A handle on the same store while nothing of it answers. */
  openUnreached(): Promise<Landmarks>;
  /** The store loses everything. */
  forget(): Promise<void>;
}

export function landmarksContract(vitest: Vitest, name: string, make: () => Promise<LandmarksWorld>): void {
  vitest.describe(`landmarks on ${name}`, () => {
    kept(vitest, make);
    lost(vitest, make);
  });
}

function kept({ it, expect }: Vitest, make: () => Promise<LandmarksWorld>): void {
  it("has none at the beginning, and gives every process the text of each partition as it was written", inWorld(make, async (world) => {
    const [one, other] = [await world.open(), await world.open()];
    expect(await one.load(0)).toBeNull();
    await one.save(0, "first");
    await one.save(11, "éléven\n\u0000 \"quoted\" 🧭");
    expect([await other.load(0), await other.load(11), await other.load(1)]).toEqual(["first", "éléven\n\u0000 \"quoted\" 🧭", null]);
  }));

  it("keeps the last text of a partition, whoever wrote it, whole, however long or short", inWorld(make, async (world) => {
    const [one, other] = [await world.open(), await world.open()];
    await one.save(3, "x".repeat(100_000));
    expect((await other.load(3))?.length).toBe(100_000);
    await other.save(3, "short");
    expect(await one.load(3)).toBe("short");
    await one.save(3, "");
    expect(await other.load(3)).toBe("");
    await Promise.all(Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? one : other).save(4, `text ${at}`)));
    expect(await one.load(4)).toMatch(/^text \d+$/);
    expect(await other.load(4)).toBe(await one.load(4));
  }));
}

function lost({ it, expect }: Vitest, make: () => Promise<LandmarksWorld>): void {
  it("has none where nothing answers, and throws neither there nor for what it cannot keep", inWorld(make, async (world) => {
    const [here, unreached] = [await world.open(), await world.openUnreached()];
    await unreached.save(0, "never");
    expect(await unreached.load(0)).toBeNull();
    await unreached.close();
    expect(await here.load(0)).toBeNull();
  }));

  it("has none after the store has lost them, and keeps what is written from then on", inWorld(make, async (world) => {
    const landmarks = await world.open();
    await landmarks.save(0, "before");
    await world.forget();
    expect(await landmarks.load(0)).toBeNull();
    await landmarks.save(0, "after");
    expect(await landmarks.load(0)).toBe("after");
  }));

  it("neither gives nor takes anything once its handle is closed, as often as that is; others go on", inWorld(make, async (world) => {
    const [one, other] = [await world.open(), await world.open()];
    await one.save(0, "kept");
    await one.close();
    await one.close();
    await one.save(0, "late");
    await one.save(1, "late");
    expect([await one.load(0), await one.load(1)]).toEqual([null, null]);
    expect([await other.load(0), await other.load(1)]).toEqual(["kept", null]);
  }));
}
