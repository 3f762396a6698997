/** A fleet whose processes are killed at random, each started again at once, by a seed that is told. */
import { randomOf } from "@loopledger/shared/testing";
import type { DistributedName, ServiceProcess } from "../services/deployment.ts";
import { until } from "../support/until.ts";
import type { Fleet } from "./fleet.ts";
import { anotherHost } from "./surroundings.ts";

export interface StormOptions {
  readonly seed: number;
  readonly ms: number;
  /** Pause between two kills, in ms: evenly spread up to twice this. */
  readonly pauseMs: number;
  /** It goes on beyond its time until so many have died: on a busy machine each start takes long (default 0). */
  readonly killsMin?: number;
  readonly services: readonly DistributedName[];
  /** Done before each kill; it is told which share of the time is over. */
  readonly meanwhile: (share: number) => Promise<void>;
  readonly tell: (text: string) => void;
}
export interface Storm {
  /** Kills by service. */
  readonly kills: ReadonlyMap<DistributedName, number>;
  /** What the worker that came back in other surroundings had changed. */
  readonly elsewhere: string;
  readonly running: readonly ServiceProcess[];
}

export async function storm(fleet: Fleet, { seed, ms, pauseMs, killsMin = 0, services, meanwhile, tell }: StormOptions): Promise<Storm> {
  const random = randomOf(seed);
  const host = anotherHost();
  const slots = services.map((service) => ({ service, process: fleet.launch(service), behind: [] as readonly string[] }));
  await Promise.all(slots.map(({ process }) => process.ready()));
  tell(`${slots.length} processes work`);
  const kills = new Map<DistributedName, number>();
  const endsAt = performance.now() + ms;
  const fallen = (): number => [...kills.values()].reduce((sum, times) => sum + times, 0);
  for (let next = performance.now(); performance.now() < endsAt || fallen() < killsMin; ) {
    await until(() => performance.now() >= next, { what: "the next kill", timeoutMs: 60_000 });
    await meanwhile(1 - Math.max(0, endsAt - performance.now()) / ms);
    const slot = random.pick(slots);
    // Some die while they start, most of them at work.
    if (random.chance(0.8)) await slot.process.ready();
    slot.process.kill("SIGKILL");
    await slot.process.ended;
    tell(`killed a ${slot.service}; ${fleet.watch.done} sessions are done`);
    kills.set(slot.service, (kills.get(slot.service) ?? 0) + 1);
    // The first worker that falls comes back as if on another machine.
    if (slot.service === "worker" && slots.every(({ behind }) => behind.length === 0)) slot.behind = host.behind;
    slot.process = fleet.launch(slot.service, {}, slot.behind);
    next = performance.now() + random.below(2 * pauseMs);
  }
  await Promise.all(slots.map(({ process }) => process.ready()));
  return { kills, elsewhere: host.told, running: slots.map(({ process }) => process) };
}
