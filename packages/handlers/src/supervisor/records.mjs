/**
 * The files in which supervisors of a session say on this host that they run something, and the rule by which two of them never do at once.
 *
 * Each writes its own record before it looks at the others'. So of two that start together at least one sees the other; the one
 * whose claim has the lower epoch yields, the other ends it and waits until it is gone.
 */
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAll, isAlive, membersOf, placeOf, self, statOf } from "./processes.mjs";

const suffix = ".run.json";

/** Record: `{ run, kind, epoch, supervisor: { pid, start }, place, group: { pid, start } | null }` */
export function writeRecord(folder, record) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${record.run}${suffix}`);
  writeFileSync(`${path}.new`, JSON.stringify(record), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

export function newRecord({ run, kind, epoch }) {
  return { run, kind, epoch, supervisor: self(), place: placeOf(), group: null };
}

export function removeRecord(folder, run) {
  const path = join(folder, `${run}${suffix}`);
  for (const one of [`${path}.new`, path]) rmSync(one, { force: true });
}

/** The folder of a run's own files: its input may hold what nobody else should read, so it goes when its worker cannot see to it. */
export function runFolderOf(folder, run) {
  return join(folder, `run-${run}`);
}

export function removeRunFolder(folder, run) {
  rmSync(runFolderOf(folder, run), { recursive: true, force: true });
}

export function readRecords(folder) {
  // Most sessions have no such folder, and an error is dear to make.
  if (!existsSync(folder)) return [];
  let names;
  try {
    names = readdirSync(folder);
  } catch {
    return [];
  }
  return names.filter((name) => name.endsWith(suffix)).flatMap((name) => {
    try {
      return [JSON.parse(readFileSync(join(folder, name), "utf8"))];
    } catch {
      // Its supervisor has removed it meanwhile.
      return [];
    }
  });
}

/** Pids that a record's run still has on this host: its supervisor and its members. Empty for another boot or pid namespace. */
function leftOf(record, place) {
  if (record.place !== place) return [];
  const supervised = isAlive(record.supervisor);
  const { group } = record;
  const leader = group === null ? null : statOf(group.pid);
  // The number of a group may have been given to another since; it is ours while its supervisor or its first process lives.
  const ours = group !== null && (supervised ? leader === null || leader.start === group.start : leader?.start === group.start);
  const members = membersOf({ marker: record.run, group: ours ? group.pid : null, since: record.supervisor.start });
  return supervised && record.supervisor.pid !== process.pid ? [...members, record.supervisor.pid] : members;
}

/** Of another pid namespace of this boot nothing can be said; what ran before this boot is gone. */
function isJudgeable(record, place) {
  return record.place === place || record.place.split(" ")[0] !== place.split(" ")[0];
}

/**
 * Ends the runs that `which` picks and waits until they are gone. True when all are; their records are removed.
 * A supervisor is told by SIGTERM like the others: it ends what it runs itself.
 */
export async function endRecorded(folder, { which, graceMs }) {
  const records = readRecords(folder);
  if (records.length === 0) return true;
  const place = placeOf();
  let all = true;
  for (const record of records.filter((other) => which(other) && isJudgeable(other, place))) {
    const killAt = performance.now() + graceMs;
    const gone = await endAll(() => leftOf(record, place), { killAt: () => killAt });
    if (gone) {
      removeRunFolder(folder, record.run);
      removeRecord(folder, record.run);
    }
    all &&= gone;
  }
  return all;
}

