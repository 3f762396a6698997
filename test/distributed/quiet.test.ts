/** What a fleet costs that has nothing to do, and what a start costs where much is behind it. */
import { readFileSync } from "node:fs";
import type { SessionId } from "@loopledger/shared/core/brand";
import { appendAct } from "@loopledger/shared/runtime";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ServiceProcess } from "../services/deployment.ts";
import { until } from "../support/until.ts";
import { distributedGrounds } from "../support/worlds/distributed-grounds.ts";
import { Fleet, patienceMs } from "./fleet.ts";

vi.setConfig({ testTimeout: 3 * patienceMs, hookTimeout: patienceMs });
let fleet: Fleet;
beforeEach(async () => {
  fleet = await Fleet.open(await distributedGrounds("quiet"));
});
afterEach(() => fleet.close());

/** Processor time of a process and its threads so far, in ms; the kernel counts in hundredths of a second. */
function cpuMs({ child }: ServiceProcess): number {
  const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
/** Hundredths of a core that each took over a span. */
async function sharesOf(processes: readonly ServiceProcess[], spanMs: number): Promise<number[]> {
  const [from, before] = [performance.now(), processes.map(cpuMs)];
  await until(() => performance.now() > from + spanMs, { what: "the span to be over" });
  return processes.map((one, index) => (100 * (cpuMs(one) - (before[index] ?? 0))) / (performance.now() - from));
}
/** Records that a process has folded since its start, by its own figures. */
async function recordsOf(one: ServiceProcess): Promise<number> {
  const { body } = await one.text("/metrics");
  return [...body.matchAll(/^loopledger_records_total\{[^}]*\} (\d+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
}

test("services that have nothing to do take less than three hundredths of a core each", async () => {
  const services = ["scheduler", "worker", "checker", "projector", "gateway", "intake"] as const;
  const started = await fleet.launchAll(services);
  await fleet.submit("s-1", { iterations: 2 });
  await fleet.allDone();
  let shares = await sharesOf(started, 3_000);
  // The first spans still pay for the start, the longer the busier the machine is.
  for (let tries = 0; tries < 4 && (tries === 0 || Math.max(...shares) >= 3); tries++) shares = await sharesOf(started, 10_000);
  process.stdout.write(`idle: ${services.map((service, index) => `${service} ${shares[index]?.toFixed(1)} %`).join(", ")} of a core\n`);
  for (const share of shares) expect(share).toBeLessThan(3);
});

test("ten thousand finished sessions are not read by a service that starts: it reads those that are alive, and the tail", async () => {
  await fleet.launchAll(["projector"]);
  const ids = Array.from({ length: 10_000 }, (_, index) => `over-${index}`);
  const finish = async (): Promise<void> => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
      await fleet.submit(id);
      await appendAct(fleet.engine, id as SessionId, { type: "cancel_requested", data: { reason: "enough" }, actor: { kind: "human", id: "olga" } });
    }
  };
  await Promise.all(Array.from({ length: 500 }, finish));
  for (let index = 0; index < 5; index++) await fleet.submit(`alive-${index}`, { hold: "hold" });
  const end = await fleet.engine.ledger.end();
  const records = [...end.values()].reduce((sum, offset) => sum + offset, 0);
  expect(records).toBeGreaterThan(20_000);
  await until(async () => {
    const cursors = (await fleet.engine.views?.cursors("main")) ?? new Map();
    return [...end].every(([partition, offset]) => (cursors.get(partition) ?? 0) >= offset);
  }, { what: "the projector to be there", timeoutMs: patienceMs });
  fleet.hold("hold");
  const worker = fleet.launch("worker");
  await worker.ready();
  await until(() => fleet.watch.claims.filter(({ counts }) => counts).length === 5, { what: "the five that are alive to be claimed", timeoutMs: patienceMs });
  const read = await recordsOf(worker);
  process.stdout.write(`start: ${read} of ${records} records were folded\n`);
  expect(read).toBeGreaterThan(0);
  expect(read).toBeLessThan(100);
});
