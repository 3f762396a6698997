/** Records that lie elsewhere than their session does: a whole copy in a wrong partition, as a tool that mirrors a topic may leave it. */
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { type AuditInputs, type DumpRow, type Report, type VerdictRow, audit } from "@loopledger/audit";
import { ledgerKey, partitionOf } from "@loopledger/shared/core/placement";
import { recordOf, sha256, testSession } from "@loopledger/shared/testing";
import { verdictRows } from "loopledger/commands/ledger";
import { murmur2, placeOfKey } from "../../packages/audit/src/fold/placement.ts";
import { walkOf } from "./corpus.ts";
import { realFold, saidBy } from "./folds.ts";
import { dumpOf } from "./plant.ts";

const partitions = 6;
const home = partitionOf(testSession, partitions);
const everyPartition = Array.from({ length: partitions }, (_, partition) => partition);
const elsewhere = everyPartition.filter((partition) => partition !== home);
/** A session's own log: a walk also writes into a wrong partition and under other keys, which is another story. */
const own: readonly DumpRow[] = dumpOf(walkOf(3, 60)).filter(({ partition, key }) => partition === 0 && key === testSession);

/** The session's records as they lie in one partition, so many milliseconds after they were written. */
function lyingIn(partition: number, laterMs = 0): DumpRow[] {
  return own.map((row, index) => ({ ...row, partition, offset: index + 1, time: row.time + laterMs }));
}
function initialised(count: number): DumpRow[] {
  return Array.from({ length: count }, (_, partition) => {
    const record = recordOf("ledger_initialised", { ledgerId: "ledger-1", partitions: count, format: 1 });
    const text = JSON.stringify({ ...record, sessionId: ledgerKey(partition) });
    return { partition, offset: 0, time: 0, key: ledgerKey(partition), text, value: text };
  });
}
/** What `ledger dump --verdicts` says of rows in this order. */
function verdictsOf(rows: readonly DumpRow[], count: number): VerdictRow[] {
  const judge = verdictRows({ ids: { sha256 } as never, ledger: { partitionOf: (key) => partitionOf(key, count) } });
  return rows.filter(({ key }) => !key?.startsWith("_ledger/")).map((row) => judge({ ...row, value: row.text ?? null } as never) as unknown as VerdictRow);
}
/** The status for whoever reads the session where it is at home, and nothing else. */
const views = saidBy(realFold, lyingIn(home)).views ?? [];
const judged = (ledger: readonly DumpRow[], count = partitions): Report => audit({ ledger, verdicts: verdictsOf(ledger, count), views });
const inOrder = (rows: readonly DumpRow[], order: readonly number[]): DumpRow[] => order.flatMap((partition) => rows.filter((row) => row.partition === partition));
const sound = audit({ ledger: lyingIn(home), views });
/** The counts of a sound session with so many strays beside it. */
function soundWith(strays: number): Report["counts"] {
  const { accepted, held, void: voids } = sound.counts;
  return { accepted, held, void: strays === 0 ? voids : { ...voids, malformed: (voids.malformed ?? 0) + strays } };
}
const readersLines = ({ violations }: Report): unknown => violations.filter(({ id, detail }) => detail.includes("reader") || id === "T1");

describe("a copy of a session's records away from its home", () => {
  const lower = elsewhere.filter((partition) => partition < home).at(0) ?? -1;
  const upper = elsewhere.filter((partition) => partition > home).at(0) ?? -1;

  it.each([
    ["before the home", [lower]], ["after the home", [upper]], ["on both sides of it", [lower, upper]], ["everywhere", elsewhere],
  ])("%s changes no verdict, no view and no count of what was accepted", (_where, strays) => {
    expect(Math.min(...strays)).toBeGreaterThanOrEqual(0);
    const report = judged([...initialised(partitions), ...inOrder([...lyingIn(home), ...strays.flatMap((partition) => lyingIn(partition))], everyPartition)]);
    expect(readersLines(report)).toEqual([]);
    expect(report.violations).toEqual(sound.violations);
    expect(report.counts).toEqual(soundWith(strays.length * own.length));
  });

  it("is void(malformed) in the verdicts of a dump, and the records at home are judged as if it were not there", () => {
    const alone = verdictsOf(lyingIn(home), partitions);
    expect(alone.filter(({ verdict }) => verdict === "accepted").length).toBeGreaterThan(5);
    const rows = [...lyingIn(lower), ...lyingIn(home)];
    expect(verdictsOf(rows, partitions).slice(0, own.length).every(({ verdict, reason }) => verdict === "void" && reason === "malformed")).toBe(true);
    expect(verdictsOf(rows, partitions).slice(own.length)).toEqual(alone);
  });

  it("that a reader took is S2, record by record", () => {
    const ledger = [...initialised(partitions), ...lyingIn(lower), ...lyingIn(home)];
    const verdicts = verdictsOf(ledger, partitions).map((row) => (row.partition === lower && row.offset === 1 ? { ...row, verdict: "accepted" as const, reason: null } : row));
    expect(audit({ ledger, verdicts }).violations).toContainEqual({ id: "S2", sessionId: testSession, partition: lower, offset: 1, detail: `accepted by a reader: partition ${lower}, home is ${home}` });
  });

  it("is judged by the session that began first where the dump does not say how many partitions there are", () => {
    for (const strays of [[lower], [upper], [lower, upper]]) {
      const ledger = inOrder([...lyingIn(home), ...strays.flatMap((partition) => lyingIn(partition, 1_000))], everyPartition);
      expect(judged(ledger).violations).toEqual(sound.violations);
      expect(judged(ledger).counts).toEqual(soundWith(strays.length * own.length));
    }
  });

  it("cannot be on a ledger of a single partition: all of it is at home", () => {
    const report = audit({ ledger: [...initialised(1), ...lyingIn(0)], verdicts: verdictsOf(lyingIn(0), 1) });
    expect(report.violations).toEqual(audit({ ledger: lyingIn(0) }).violations);
    expect(report.counts).toEqual(soundWith(0));
  });

  it("is told from the home by the ledger's first words alone: later ones, and those in another partition, say nothing", () => {
    const [forged] = initialised(1);
    const later = { ...forged, partition: 0, offset: 500 } as DumpRow;
    const astray = { ...initialised(3)[2], partition: 1, offset: 501 } as DumpRow;
    const report = judged([...initialised(partitions), ...lyingIn(lower), ...lyingIn(home), later, astray]);
    expect(report.violations).toEqual(sound.violations);
    expect(report.counts).toEqual(soundWith(own.length));
  });
});

test("a dump is judged the same in whatever order its partitions, and the rows of several of them, come", () => {
  const orders = fc.record({
    order: fc.shuffledSubarray(everyPartition, { minLength: partitions }), strays: fc.subarray(elsewhere), laterMs: fc.integer({ min: 0, max: 5_000 }),
    says: fc.boolean(), seed: fc.integer({ min: 0, max: 2 ** 30 }),
  });
  fc.assert(fc.property(orders, ({ order, strays, laterMs, says, seed }) => {
    const rows: DumpRow[] = [...(says ? initialised(partitions) : []), ...lyingIn(home), ...strays.flatMap((partition) => lyingIn(partition, laterMs + (says ? 0 : 1)))];
    const verdicts = verdictsOf(inOrder(rows, order), partitions);
    const dumped: AuditInputs = { ledger: woven(rows, order, seed), verdicts, views };
    const report = audit(dumped);
    expect(report.violations).toEqual(sound.violations);
    expect(report.counts).toEqual(soundWith(strays.length * own.length));
    expect(report.coverage).toEqual(sound.coverage);
  }), { numRuns: 60 });
});

/** Rows of all partitions mixed, each partition's in its own order. */
function woven(rows: readonly DumpRow[], order: readonly number[], seed: number): DumpRow[] {
  const queues = order.map((partition) => rows.filter((row) => row.partition === partition));
  const mixed: DumpRow[] = [];
  for (let turn = seed; mixed.length < rows.length; turn = (turn * 1_103_515_245 + 12_345) % 2_147_483_648) {
    const waiting = queues.filter((queue) => queue.length > 0);
    mixed.push(...(waiting[turn % waiting.length]?.splice(0, 1 + (turn % 7)) ?? []));
  }
  return mixed;
}

describe("the audit's own placement", () => {
  it.each([
    ["21", -973932308], ["foobar", -790332482], ["a-little-bit-long-string", -985981536], ["a-little-bit-longer-string", -1486304829],
    ["lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971], ["abc", 479470107],
  ])("hashes %s as Kafka's Java client does", (key, hash) => {
    expect(murmur2(key) | 0).toBe(hash);
  });
  it("agrees with the product's on every key", () => {
    fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 60 }), fc.integer({ min: 1, max: 100 }), (key, count) => {
      expect(placeOfKey(key, count)).toBe(partitionOf(key, count));
    }));
  });
});
