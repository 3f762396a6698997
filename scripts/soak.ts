// Sessions through services that are killed at random, for as long as is asked for; the same as test/distributed does for half a minute.
//
//   npm run soak -- --minutes 5                   five minutes (pnpm soak --minutes 5)
//   npm run soak -- --minutes 5 --schedulers 5    with so many schedulers (default 2), workers (3), checkers (2)
//   npm run soak -- --minutes 1 --seed 17         the kills of a seed that a run has told
//   npm run soak -- --minutes 5 --sessions 1000   so many sessions (default: one a second, 60 at least)
//
// It needs a Kafka and a Redis: those that LOOPLEDGER_KAFKA_BROKERS and LOOPLEDGER_REDIS_URL name, else ones that are started here.
// Ends with 0 where every session is done, every effect happened exactly once, the audit is clean and the status topic says what the views say; else with 1.
import { parseArgs } from "node:util";
import { Fleet } from "../test/distributed/fleet.ts";
import { round } from "../test/distributed/rounds.ts";
import { distributedGrounds } from "../test/support/worlds/distributed-grounds.ts";
import setup from "../test/support/parts/global-setup.ts";

// pnpm hands the two dashes on that stand between its own options and ours.
const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument, at) => at > 0 || argument !== "--"),
  options: {
    minutes: { type: "string", default: "5" }, seed: { type: "string" }, sessions: { type: "string" }, pause: { type: "string", default: "1000" },
    workers: { type: "string", default: "3" }, schedulers: { type: "string", default: "2" }, checkers: { type: "string", default: "2" },
  },
});
type Option = keyof typeof values;

function positive(name: Option, text: string): number {
  const number = Number(text);
  if (!(number > 0)) throw new RangeError(`--${name} takes a number above 0, not ${text}.`);
  return number;
}
function whole(name: Option, text: string): number {
  const number = positive(name, text);
  if (!Number.isSafeInteger(number)) throw new RangeError(`--${name} takes whole numbers from 1 on, not ${text}.`);
  return number;
}
const startedAt = performance.now();
const tell = (text: string): void => void process.stdout.write(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(7)} s  ${text}\n`);

async function soak(): Promise<boolean> {
  const ms = positive("minutes", values.minutes) * 60_000;
  const seed = values.seed === undefined ? 1 + (Date.now() % 1_000_000) : whole("seed", values.seed);
  const sessions = values.sessions === undefined ? Math.max(60, Math.round(ms / 1000)) : whole("sessions", values.sessions);
  const services = (["worker", "scheduler", "checker"] as const).flatMap((service) => Array.from({ length: whole(`${service}s`, values[`${service}s`]) }, () => service));
  const all = [...services, "projector", "intake", "intake"] as const;
  tell(`seed ${seed}, ${sessions} sessions, ${all.join(" ")}`);
  const fleet = await Fleet.open(await distributedGrounds("soak"));
  // Nobody else ends its processes.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void fleet.close().then(end).finally(() => process.exit(130)));
  try {
    const { miscounted, report, otherOnTopic } = await round(fleet, { seed, ms, sessions, pauseMs: whole("pause", values.pause), services: all, tell });
    for (const line of miscounted) tell(`effects: ${line}`);
    for (const { id, sessionId, detail } of report.violations) tell(`audit: ${id} ${sessionId ?? "-"} ${detail}`);
    for (const line of otherOnTopic) tell(`status topic: ${line}`);
    tell(`${report.counts.accepted} records count, void: ${[...fleet.watch.voids].map(([what, count]) => `${what} ${count}`).join(", ") || "none"}`);
    tell(`claims: ${fleet.watch.claims.length}, of which ${fleet.watch.rivals()} came second`);
    return miscounted.length === 0 && report.violations.length === 0 && otherOnTopic.length === 0;
  } finally {
    await fleet.close();
  }
}

const end = await setup();
try {
  process.exitCode = (await soak()) ? 0 : 1;
} catch (error) {
  process.exitCode = 1;
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
} finally {
  await end();
}
