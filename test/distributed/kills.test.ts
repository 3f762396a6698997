/** Sixty sessions through processes that are killed at random for half a minute, on a real Kafka and a real Redis. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { distributedGrounds } from "../support/worlds/distributed-grounds.ts";
import { Fleet, patienceMs } from "./fleet.ts";
import { round } from "./rounds.ts";

vi.setConfig({ testTimeout: 3 * patienceMs, hookTimeout: patienceMs });
const services = ["worker", "worker", "worker", "scheduler", "scheduler", "checker", "checker", "projector", "intake", "intake"] as const;

let fleet: Fleet;
beforeAll(async () => {
  fleet = await Fleet.open(await distributedGrounds("kills"));
});
afterAll(() => fleet.close());

test("processes are killed at random for thirty seconds: every session is done, every effect happened once, audit, views and status topic agree", async () => {
  const seed = 1 + (Date.now() % 1_000_000);
  const { storm, miscounted, report, otherOnTopic } = await round(fleet, {
    seed, ms: 30_000, sessions: 60, pauseMs: 1_000, killsMin: 6, services, tell: (text) => void process.stdout.write(`storm: ${text}\n`),
  });
  expect([...storm.kills.values()].reduce((sum, times) => sum + times, 0)).toBeGreaterThan(5);
  expect(miscounted).toEqual([]);
  expect(report.violations).toEqual([]);
  expect(report.sessions).toBe(60);
  expect(otherOnTopic).toEqual([]);
});
