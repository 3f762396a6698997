/** What every lease service owes. It owes no safety: only that those who ask are told apart, and that nobody who asks is hurt. */
import type { OwnerId } from "../../core/brand.ts";
import type { Ownership } from "../../ports/index.ts";
import { inWorld, type Vitest, type World } from "./suite.ts";

export interface OwnershipWorld extends World {
  /** Another process's handle on the same service. */
  open(): Promise<Ownership>;
  /** Lets time pass: virtual where the adapter's clock is, else real. */
  pass(ms: number): Promise<void>;
}

/** Long enough that a busy machine does not let a lease run out by accident, where time is real. */
const TTL_MS = 1_000;
const owner = (name: string): OwnerId => name as OwnerId;

export function ownershipContract(vitest: Vitest, name: string, make: () => Promise<OwnershipWorld>): void {
  vitest.describe(`ownership on ${name}`, () => {
    leases(vitest, make);
    arbitration(vitest, make);
    groups(vitest, make);
    failing(vitest, make);
  });
}

function leases({ it, expect }: Vitest, make: () => Promise<OwnershipWorld>): void {
  it("shows a registered owner to every process, and no other", inWorld(make, async (world) => {
    const [one, two] = [await world.open(), await world.open()];
    const lease = await one.register(owner("a"), TTL_MS);
    expect(lease.valid()).toBe(true);
    expect([await one.holder(owner("a")), await two.holder(owner("a"))]).toEqual(["live", "live"]);
    expect(await two.holder(owner("nobody"))).toBe("expired");
  }));

  it("lets a lease that is not renewed run out, for good", inWorld(make, async (world) => {
    const ownership = await world.open();
    const lease = await ownership.register(owner("a"), TTL_MS);
    await world.pass(TTL_MS + 100);
    expect(lease.valid()).toBe(false);
    expect(await ownership.holder(owner("a"))).toBe("expired");
    expect(await lease.renew()).toBe(false);
    expect(await lease.renew()).toBe(false);
    expect(lease.valid()).toBe(false);
    expect(await ownership.holder(owner("a"))).toBe("expired");
  }));

  it("keeps a lease that is renewed", inWorld(make, async (world) => {
    const ownership = await world.open();
    const lease = await ownership.register(owner("a"), TTL_MS);
    for (let i = 0; i < 5; i++) {
      await world.pass(TTL_MS / 3);
      expect(await lease.renew()).toBe(true);
      expect(lease.valid()).toBe(true);
    }
    expect(await ownership.holder(owner("a"))).toBe("live");
  }));

  it("ends a lease at once when it is released", inWorld(make, async (world) => {
    const ownership = await world.open();
    const lease = await ownership.register(owner("a"), TTL_MS);
    await lease.release();
    expect(lease.valid()).toBe(false);
    expect(await ownership.holder(owner("a"))).toBe("expired");
    expect(await lease.renew()).toBe(false);
    await lease.release();
  }));

  it("keeps the leases of several owners apart", inWorld(make, async (world) => {
    const ownership = await world.open();
    const [a, b] = [await ownership.register(owner("a"), TTL_MS), await ownership.register(owner("b"), TTL_MS)];
    await a.release();
    expect([a.valid(), b.valid()]).toEqual([false, true]);
    expect([await ownership.holder(owner("a")), await ownership.holder(owner("b"))]).toEqual(["expired", "live"]);
  }));
}

function arbitration({ it, expect }: Vitest, make: () => Promise<OwnershipWorld>): void {
  it("lets one of many callers take over", inWorld(make, async (world) => {
    const handles = await Promise.all(Array.from({ length: 4 }, () => world.open()));
    const calls = handles.flatMap((handle, h) => [0, 1, 2].map((i) => handle.tryTake("session-1", owner(`${h}/${i}`), TTL_MS)));
    expect((await Promise.all(calls)).filter(Boolean)).toHaveLength(1);
  }));

  it("arbitrates each resource for itself, and again after its time", inWorld(make, async (world) => {
    const ownership = await world.open();
    expect(await ownership.tryTake("session-1", owner("a"), TTL_MS)).toBe(true);
    expect(await ownership.tryTake("session-1", owner("b"), TTL_MS)).toBe(false);
    expect(await ownership.tryTake("session-2", owner("b"), TTL_MS)).toBe(true);
    await world.pass(TTL_MS + 100);
    expect(await ownership.tryTake("session-1", owner("b"), TTL_MS)).toBe(true);
  }));
}

function groups({ it, expect }: Vitest, make: () => Promise<OwnershipWorld>): void {
  it("names everybody of a group to each of them, and nobody of another", inWorld(make, async (world) => {
    const [one, two] = [await world.open(), await world.open()];
    expect(await one.gather("workers", owner("b"), TTL_MS)).toEqual(["b"]);
    expect(await two.gather("workers", owner("a"), TTL_MS)).toEqual(["a", "b"]);
    expect(await one.gather("workers", owner("b"), TTL_MS)).toEqual(["a", "b"]);
    expect(await two.gather("checkers", owner("a"), TTL_MS)).toEqual(["a"]);
    // A member's name may say more than who it is.
    expect(await two.gather("makers", "a 1x,7zq", TTL_MS)).toEqual(["a 1x,7zq"]);
  }));

  it("leaves out who has left, and who has not been heard of in time", inWorld(make, async (world) => {
    const ownership = await world.open();
    for (const name of ["a", "b", "c"]) await ownership.gather("workers", owner(name), name === "c" ? TTL_MS : 60_000);
    expect(await ownership.gather("workers", owner("a"), 0)).toEqual(["b", "c"]);
    await world.pass(TTL_MS + 100);
    expect(await ownership.gather("workers", owner("b"), 60_000)).toEqual(["b"]);
    expect(await ownership.gather("workers", owner("b"), 0)).toEqual([]);
  }));
}

function failing({ it, expect }: Vitest, make: () => Promise<OwnershipWorld>): void {
  it("answers without throwing when the service is gone", inWorld(make, async (world) => {
    const ownership = await world.open();
    const lease = await ownership.register(owner("a"), TTL_MS);
    await ownership.close();
    expect(await lease.renew()).toBe(false);
    expect(await ownership.holder(owner("a"))).toBe("unreachable");
    expect(await ownership.tryTake("session-1", owner("a"), TTL_MS)).toBe(false);
    expect(await ownership.gather("workers", owner("a"), TTL_MS)).toBeNull();
    await lease.release();
    expect(lease.valid()).toBe(false);
    const late = await ownership.register(owner("b"), TTL_MS);
    expect([late.valid(), await late.renew()]).toEqual([false, false]);
    await ownership.close();
  }));

  it("leaves a lease valid up to its deadline while the service cannot be reached", inWorld(make, async (world) => {
    const [one, two] = [await world.open(), await world.open()];
    const lease = await one.register(owner("a"), TTL_MS);
    await one.close();
    expect(await lease.renew()).toBe(false);
    expect(lease.valid()).toBe(true);
    expect(await two.holder(owner("a"))).toBe("live");
    await world.pass(TTL_MS + 100);
    expect(lease.valid()).toBe(false);
    expect(await two.holder(owner("a"))).toBe("expired");
  }));
}
