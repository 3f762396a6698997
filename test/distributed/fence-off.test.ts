/** On a real Kafka: an owner that stood still beyond its lease writes when it wakes. With the fence the audit finds nothing; without it, it finds that record. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Report, type VerdictRow, audit } from "@loopledger/audit";
import type { Guards } from "@loopledger/shared/core/fencing/guards";
import { afterEach, expect, test, vi } from "vitest";
import { type Deploying, deploying } from "../support/worlds/deploying.ts";
import { distributedWorld } from "../support/worlds/distributed-world.ts";
import { foldSession } from "../support/worlds/oracle.ts";
import { type Peer, evolveWith } from "../support/worlds/peer.ts";
import { Target } from "../support/worlds/target.ts";
import { shortLeaseMs, stateOf, submit } from "../support/worlds/world.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Two processes under these guards; the first is held while it builds, and wakes when the second is at it. */
async function wokenLate(guards: Partial<Guards>): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "loopledger-fence-"));
  const target = new Target(folder);
  const world = await distributedWorld({ leaseMs: shortLeaseMs });
  closing.push(() => rmSync(folder, { recursive: true, force: true }), () => target.close(), () => world.close());
  const enter = (how: Partial<Deploying>): Promise<Peer> => world.join({ handlers: deploying({ target, ...how }), guards });
  const [late, own] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let begun = 0;
  const waits = (on: Promise<void>): Partial<Deploying> => ({ maker: () => on.then(() => ({ summary: "built" })), started: () => begun++ });
  const epoch = async (): Promise<number> => (await stateOf(world, "s" as never)).epoch;
  const built = async (): Promise<boolean> => foldSession(await world.entries(), "s" as never).rows.some(({ record }) => record?.type === "built");
  const first = await enter(waits(late.promise));
  first.work();
  await submit(first, "s", { policy: { failureFirst: false } });
  // Its claim alone is not enough: held before it has read that back it would never build.
  await world.until(() => begun > 0, "the first maker");
  first.process.pause();
  const second = await enter(waits(own.promise));
  second.work();
  await world.until(async () => (await epoch()) === 2, "the takeover");
  late.resolve();
  await world.until(built, "the late build");
  const entries = await world.entries();
  own.resolve();
  // What the processes themselves made of each entry: they run the fold under the same guards.
  const { rows } = foldSession(entries, "s" as never, evolveWith(guards));
  const verdicts = rows.map(({ verdict }, index): VerdictRow => {
    const { partition, offset } = entries.filter(({ key }) => key === "s")[index] ?? { partition: 0, offset: 0 };
    return { partition, offset, verdict: verdict.kind, ...(verdict.kind === "void" && { reason: verdict.reason }), ...(verdict.kind === "accepted" && { seq: verdict.seq }) };
  });
  return audit({ ledger: entries.map(({ partition, offset, time, key, value }) => ({ partition, offset, time, key, value, ...(value !== null && { text: value }) })), verdicts });
}
const stale = ({ violations }: Report): string[] => violations.filter(({ sessionId }) => sessionId === "s").map(({ id }) => id);

test("with the fence the late record is void, and nothing is found", async () => {
  const report = await wokenLate({});
  expect(stale(report)).toEqual([]);
  expect(report.counts.void["stale_epoch"]).toBe(1);
});

test("with the fence taken away the late record counts, and the audit says so", async () => {
  expect(stale(await wokenLate({ fence: false }))).toContain("F3");
});
