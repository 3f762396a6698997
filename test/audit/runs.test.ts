/** The audit over what real processes of the product have written: whole runs, with deaths in the worst moments, beside the target's own log. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type AuditInputs, type Report, audit, dumpRow, effectRow, verdictRow } from "@loopledger/audit";
import type { SessionId } from "@loopledger/shared/core/brand";
import { partitionOf } from "@loopledger/shared/core/placement";
import { statusOf } from "@loopledger/shared/core/session/status";
import { createSystemIds } from "@loopledger/shared/system";
import { dumpRow as rowOf, verdictRows } from "loopledger/commands/ledger";
import { type Deploying, deploying } from "../support/worlds/deploying.ts";
import { memoryWorld } from "../support/worlds/memory-world.ts";
import type { Peer } from "../support/worlds/peer.ts";
import { sqliteWorld } from "../support/worlds/sqlite-world.ts";
import { type Door, type Mishap, Target } from "../support/worlds/target.ts";
import { type World, decideOn, reconcile, stateOf, submit, untilOver } from "../support/worlds/world.ts";

const never = new Promise<never>(() => undefined);

describe.each([{ adapter: "memory", make: () => memoryWorld() }, { adapter: "SQLite", make: () => sqliteWorld() }])("a run on $adapter", ({ adapter, make }) => {
  let folder: string;
  let target: Target;
  let world: World;
  let peers: Peer[];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "loopledger-audit-"));
    target = new Target(folder);
    world = make();
    peers = [];
  });
  afterEach(async () => {
    for (const peer of peers) if (peer.process.state === "running") await peer.leave();
    await world.close();
    target.close();
    rmSync(folder, { recursive: true, force: true });
  });
  async function joins(how: Partial<Deploying> = {}): Promise<Peer> {
    const peer = await world.join({ handlers: deploying({ target, ...how }) });
    peers.push(peer);
    return peer;
  }
  const dies = (peer: Peer, done: boolean): Mishap => (apply) => {
    if (done) apply();
    peer.process.kill();
    return never;
  };

  /** The target stamps real time, so its log is evidence only where the ledger does too. */
  async function inputs(sessions: readonly string[]): Promise<AuditInputs> {
    const entries = await world.entries();
    const partitions = entries.filter(({ key }) => key.startsWith("_ledger/")).length;
    const judge = verdictRows({ ids: createSystemIds(), ledger: { partitionOf: (key) => partitionOf(key, partitions) } });
    const views = await Promise.all(sessions.map(async (sessionId) => {
      const status = JSON.parse(JSON.stringify(statusOf(await stateOf(world, sessionId as SessionId)))) as Record<string, unknown>;
      return { kind: "view" as const, sessionId, status };
    }));
    return {
      ledger: entries.map((entry) => dumpRow.parse(rowOf(entry))), views,
      verdicts: entries.filter(({ key }) => !key.startsWith("_ledger/")).map((entry) => verdictRow.parse(judge(entry))),
      ...(adapter === "SQLite" && { effects: target.rows().map((row) => effectRow.parse(row)) }),
    };
  }
  async function judged(...sessions: string[]): Promise<Report> {
    const report = audit(await inputs(sessions));
    expect(report.violations).toEqual([]);
    return report;
  }
  const seen = (report: Report, name: string): number => report.coverage.find((line) => line.name === name)?.count ?? 0;

  test.each(["idempotent", "fenced", "unsafe"] as const)("that goes well through the %s door is clean", async (door) => {
    const peer = await joins({ door, iterations: 3 });
    peer.work();
    const ids = [await submit(peer, "one"), await submit(peer, "two")];
    for (const id of ids) await untilOver(world, id);
    const report = await judged("one", "two");
    expect(report.sessions).toBe(2);
    expect(report.counts.accepted).toBeGreaterThan(30);
  });

  test.each([{ door: "idempotent", done: true }, { door: "fenced", done: true }, { door: "fenced", done: false }] as const)(
    "whose worker dies at the $door door (done: $done) is clean, and shows how the unknown was settled", async ({ door, done }) => {
      const first = await joins({ door });
      target.next("s", dies(first, done));
      first.work();
      const id = await submit(first, "s");
      await world.until(() => first.process.state === "killed", "the death");
      (await joins({ door })).work();
      await untilOver(world, id);
      const report = await judged("s");
      if (door === "fenced") expect(seen(report, done ? "settled_happened" : "settled_did_not_happen")).toBe(1);
    });

  test("that fails closed on an unsafe call, and goes on when a person has settled it, is clean", async () => {
    const door: Door = "unsafe";
    const first = await joins({ door });
    target.next("s", dies(first, true));
    first.work();
    const id = await submit(first, "s");
    await world.until(() => first.process.state === "killed", "the death");
    const second = await joins({ door });
    second.work();
    await world.until(async () => (await stateOf(world, id)).end?.reason === "incomplete_tool_turn", "the unknown outcome");
    await judged("s");
    await world.drive(reconcile(second, id, "happened"));
    await untilOver(world, id);
    expect(seen(await judged("s"), "settled_happened")).toBe(1);
  });

  test("that is rejected at a protected call is clean", async () => {
    const peer = await joins();
    peer.work();
    const id = await submit(peer, "s", { policy: { approvals: [{ before: "idempotent" }] } });
    await world.until(async () => (await stateOf(world, id)).pending.length > 0, "the question");
    await world.drive(decideOn(peer, id, "REJECT"));
    await untilOver(world, id);
    await judged("s");
  });

  test("is not clean once its evidence is bent: a lost record, a second application, a reader's mistake", async () => {
    const peer = await joins();
    peer.work();
    await untilOver(world, await submit(peer, "s"));
    const sound = await inputs(["s"]);
    const ids = (bent: AuditInputs): string[] => [...new Set(audit(bent).violations.map(({ id }) => id))];
    const built = sound.ledger.find(({ value }) => (value as { readonly type?: string }).type === "built");
    if (!built) throw new Error("nothing was built");
    const { eventId } = built.value as { readonly eventId: string };
    const without = sound.ledger.filter((row) => row !== built);
    expect(ids({ ...sound, ledger: without, acks: [{ partition: built.partition, offset: built.offset, eventId }] })).toContain("A1");
    const applied = target.rows().filter(({ kind }) => kind === "application").map((row) => effectRow.parse(row));
    expect(ids({ ...sound, effects: [...applied, ...applied] })).toContain("E2");
    expect(ids({ ...sound, verdicts: (sound.verdicts ?? []).map((row) => (row.offset === built.offset && row.partition === built.partition ? { ...row, verdict: "void" as const, reason: "gap" as const } : row)) })).toContain("T2");
  });
});
