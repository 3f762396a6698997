import { expect, it } from "vitest";
import type { LogTime, OwnerId, SessionId } from "../core/brand.ts";
import type { Owner } from "../core/session/state.ts";
import { createMemoryHosts, createMemoryOwnership, createMemoryProcess, createVirtualClock, type OwnershipFaults } from "../adapters/memory/index.ts";
import type { Ownership } from "../ports/index.ts";
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
  return { clock, ownership, hosts, engine, liveness: new Liveness(engine, () => 0), owner };
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

it("an owner of this host whose process is dead is gone at once, while its lease still runs", async () => {
  const { clock, ownership, hosts, liveness, owner } = twoHosts();
  const neighbour = createMemoryProcess(clock);
  const beside: Owner = { ...owner, host: hosts.on("here", neighbour).self() };
  await ownership.handle().register(owner.id, 60_000);
  expect(await liveness.look(beside)).toBe("live");
  neighbour.kill();
  expect(await liveness.look(beside)).toBe("gone");
  expect(await liveness.look(owner)).toBe("live");
});

/** One that shares a work with another, whose service counts what it is asked and can fall silent. */
async function gathered() {
  const { clock, engine } = twoHosts();
  const service = createMemoryOwnership({ clock }).handle();
  const gathers: string[] = [];
  let isSilent = false;
  const ownership: Ownership = { ...service, gather: async (group, member, ttlMs) => {
    gathers.push(group);
    return isSilent ? null : service.gather(group, member, ttlMs);
  } };
  const liveness = new Liveness({ ...engine, ownership } as Engine, () => 0);
  await liveness.start();
  const ranks = (): number[] => Array.from({ length: 200 }, (_, index) => liveness.rank({ sessionId: `s-${index}` as SessionId, submission: null }, "worker"));
  const silent = (is: boolean): void => {
    isSilent = is;
  };
  return { clock, service, liveness, gathers, ranks, silent };
}

it("of those that share a work each knows the others as of its last beat, and tells itself once a work, whatever it can run", async () => {
  const { clock, service, liveness, gathers, ranks } = await gathered();
  const many = Array.from({ length: 50 }, (_, index) => `handler-${index}`);
  await liveness.join(["worker", "checker"], { makers: many, checks: many, tools: many, gates: [] });
  expect(new Set(ranks())).toEqual(new Set([0]));
  await service.gather("worker", "other", 60_000);
  expect(new Set(ranks())).toEqual(new Set([0]));
  gathers.length = 0;
  await clock.advance(leaseMs / 3 + 10);
  expect(gathers).toEqual(["worker", "checker"]);
  expect(new Set(ranks())).toEqual(new Set([0, 1]));
});

it("who cannot hear of the others goes by what it heard last, and by itself alone where it has heard nothing", async () => {
  const { clock, service, liveness, ranks, silent } = await gathered();
  await service.gather("worker", "other", 60_000);
  silent(true);
  await liveness.join(["worker"]);
  expect(new Set(ranks())).toEqual(new Set([0]));
  silent(false);
  await clock.advance(leaseMs / 3 + 10);
  const heard = ranks();
  expect(new Set(heard)).toEqual(new Set([0, 1]));
  silent(true);
  await clock.advance(3 * leaseMs);
  expect(ranks()).toEqual(heard);
});
