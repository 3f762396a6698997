/**
 * How long the fold takes, in microseconds a record: `node test/bench/fold.ts [iterations]`.
 *
 * First the four records of an iteration on the fast path (built, dispatched, check, dispatched); then a session of many iterations,
 * half of them with an effect, where the last thousand must cost what the first thousand did.
 */
import { type FoldEntry, evolve } from "@loopledger/shared/core/session/evolve";
import { parseRecord } from "@loopledger/shared/core/events/parse";
import { Story, asks, fails, foldAll, own, owed, sha256, submit, toBuild } from "@loopledger/shared/testing";

const iterations = Number(process.argv[2] ?? 10_000);

function microseconds(run: () => void): number {
  const started = process.hrtime.bigint();
  run();
  return Number(process.hrtime.bigint() - started) / 1000;
}

/** One session's log: every second iteration asks for an effect and records its outcome. */
function longLog(count: number): readonly FoldEntry[] {
  const [, ...rest] = toBuild();
  const story = new Story().given(submit({ budget: { iterations: null, wallSeconds: null }, policy: { breaker: { same: null }, failureFirst: false } }), ...rest);
  for (let i = 1; i <= count; i++) {
    if (i % 2 === 0) {
      const key = `deploy:${i}`;
      story.append(asks(key)).append(own("tool_result", { key }));
    }
    story.append(own("built")).append(owed()).append(fails({ next_steps: [`task ${i}`] })).append(owed());
  }
  return story.entries;
}

const entries = longLog(iterations);
const { state: end, verdicts } = foldAll(entries);
if (verdicts.some((verdict) => verdict.kind !== "accepted")) throw new Error(`only ${end.seq} of ${entries.length} records were accepted`);
const costs = new Map<string, number[]>();
const perRecord: number[] = [];
for (let round = 0; round < 3; round++) {
  let { state } = new Story();
  for (const [index, entry] of entries.entries()) {
    const cost = microseconds(() => {
      state = evolve(state, entry, sha256).state;
    });
    if (round < 2) continue;
    perRecord[index] = cost;
    const type = entry.parsed.kind === "record" ? entry.parsed.record.type : entry.parsed.kind;
    const list = costs.get(type) ?? [];
    list.push(cost);
    costs.set(type, list);
  }
}

const mean = (list: readonly number[]): number => list.reduce((sum, one) => sum + one, 0) / list.length;
const median = (list: readonly number[]): number => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0;
const print = (name: string, text: string): void => void process.stdout.write(`${name.padEnd(28)} ${text}\n`);
const us = (value: number): string => `${value.toFixed(2)} us`;

for (const [type, list] of costs) if (list.length > 10) print(`evolve ${type}`, `median ${us(median(list))}, mean ${us(mean(list))}`);
const texts = entries.slice(-2000).map((entry) => entry.text);
print("parse, mean of the four", us(microseconds(() => texts.forEach((text) => void parseRecord(text))) / texts.length));
const first = perRecord.slice(0, 1000);
const last = perRecord.slice(-1000);
print("records", String(entries.length));
print("first 1,000", `median ${us(median(first))}, mean ${us(mean(first))}`);
print("last 1,000", `median ${us(median(last))}, mean ${us(mean(last))}`);
print("last / first (medians)", (median(last) / median(first)).toFixed(2));
