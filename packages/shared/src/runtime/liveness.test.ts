import { expect, it } from "vitest";
import type { LogTime, OwnerId } from "../core/brand.ts";
import type { Owner } from "../core/session/state.ts";
import { createMemoryHosts, createMemoryOwnership, createMemoryProcess, createVirtualClock, type OwnershipFaults } from "../adapters/memory/index.ts";
import type { Engine } from "./engine.ts";
import { Liveness } from "./liveness.ts";
import { LogClock } from "./log-clock.ts";
import { Supervision } from "./supervision.ts";

const leaseMs = 1_000;

/** A process that looks at another one on another host, and that other one's claim of this instant. */
function twoHosts(faults: OwnershipFaults = {}) {
  const clock = createVirtualClock();
  const ownership = createMemoryOwnership({ clock });
  const hosts = createMemoryHosts();
  const [here, there] = [createMemoryProcess(clock), createMemoryProcess(clock)];
  const engine = {
    ownerId: "here" as OwnerId, clock, ownership: ownership.handle({ process: here, faults }), host: hosts.on("here", here), leaseMs, silenceMs: 60_000, logClock: new LogClock(clock), supervision: new Supervision({ clock, report: () => undefined }),
  } as unknown as Engine;
  const at = clock.now() as LogTime;
  const owner: Owner = { id: "there" as OwnerId, role: "worker", serves: ["build"], leaseMs, host: hosts.on("there", there).self(), claimedAt: at, lastAt: at };
  return { clock, ownership, liveness: new Liveness(engine, () => 0), owner };
}

it("an owner without a lease that has just written lives until its lease's time is over", async () => {
  const { clock, liveness, owner } = twoHosts();
  expect(await liveness.look(owner)).toBe("live");
  await clock.advance(leaseMs - 10);
  expect(await liveness.look(owner)).toBe("live");
  await clock.advance(20);
  expect(await liveness.look(owner)).toBe("gone");
});

it("an owner with a lease lives, however long it has written nothing", async () => {
  const { clock, ownership, liveness, owner } = twoHosts();
  await ownership.handle().register(owner.id, 60_000);
  await clock.advance(10 * leaseMs);
  expect(await liveness.look(owner)).toBe("live");
});

it("of several that would take over one may, and where nobody can arbitrate everybody may: the ledger decides then", async () => {
  const { ownership, liveness } = twoHosts();
  expect(await ownership.handle().tryTake("s#2", "other" as OwnerId, leaseMs)).toBe(true);
  expect([await liveness.mayTakeOver("s#2"), await liveness.mayTakeOver("s#3")]).toEqual([false, true]);
  expect(await twoHosts({ unreachable: 1 }).liveness.mayTakeOver("s#2")).toBe(true);
});
