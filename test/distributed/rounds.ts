/** One round of the storm: sessions that come while processes die, and what is said of them afterwards. */
import type { Report } from "@loopledger/audit";
import type { DistributedName } from "../services/deployment.ts";
import { type Fleet, type Wanted, patienceMs } from "./fleet.ts";
import { auditOf, miscounted } from "./judging.ts";
import { otherOnTopic } from "./statuses.ts";
import { type Storm, storm } from "./storm.ts";

export interface RoundOptions {
  readonly seed: number;
  readonly ms: number;
  readonly sessions: number;
  readonly pauseMs: number;
  readonly killsMin?: number;
  readonly services: readonly DistributedName[];
  readonly tell?: (text: string) => void;
}
export interface Round {
  readonly storm: Storm;
  /** Sessions whose effects are not exactly those that were wanted, by the target's own log. */
  readonly miscounted: readonly string[];
  readonly report: Report;
  /** Sessions of which the status topic says something else than their view. */
  readonly otherOnTopic: readonly string[];
}
const doors = ["idempotent", "fenced", "idempotent"] as const;

function wantedOf(id: string): Wanted {
  const index = Number(id.slice(2));
  return { door: doors[index % 3] ?? "fenced", iterations: 2 + (index % 3), stepMs: 50 * (index % 5), failureFirst: index % 4 === 0 };
}

/** A third of the sessions is there before the first process, the others come evenly while processes die, half of them through the topic of other systems. */
export async function round(fleet: Fleet, { seed, ms, sessions, pauseMs, killsMin = 0, services, tell = () => undefined }: RoundOptions): Promise<Round> {
  const submit = async (upTo: number): Promise<void> => {
    const ids = Array.from({ length: Math.max(0, upTo - fleet.submitted.size) }, (_, index) => `s-${fleet.submitted.size + index}`);
    const topic = services.includes("intake") ? ids.filter((_, index) => index % 2 === 1) : [];
    if (topic.length > 0) await fleet.put(topic, wantedOf);
    for (const id of ids) if (!topic.includes(id)) await fleet.submit(id, wantedOf(id));
  };
  await submit(Math.ceil(sessions / 3));
  tell(`${fleet.submitted.size} sessions submitted`);
  const stormed = await storm(fleet, {
    seed, ms, pauseMs, killsMin, services, tell, meanwhile: (share) => submit(Math.ceil(sessions / 3 + share * sessions * 2 / 3)),
  });
  await submit(sessions);
  tell(`seed ${seed}; killed ${[...stormed.kills].map(([service, times]) => `${service} ${times}`).join(", ")}; a worker came back with ${stormed.elsewhere}; ${fleet.watch.done} of ${sessions} are done`);
  await fleet.allDone(patienceMs);
  tell("all are done");
  return { storm: stormed, miscounted: miscounted(fleet), report: await auditOf(fleet), otherOnTopic: await otherOnTopic(fleet) };
}
