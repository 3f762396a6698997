import { expect, test } from "vitest";
import { HELD_UP_MS, HeldUp } from "./held-up.ts";

function watched(): { readonly held: HeldUp; readonly told: string[]; pass(ms: number): void } {
  const told: string[] = [];
  let now = 5;
  const clock = { now: () => 0, monotonic: () => now, after: () => () => undefined };
  const held = new HeldUp({ connection: { brokers: ["a:1", "b:2"] }, topic: "t.goals", clock, tell: ({ message, next }) => void told.push(`${message} ${next}`) });
  return { held, told, pass: (ms) => { now += ms; } };
}

test("F47 a transaction is told once it has been open for a while, once, with the commands that show and end it", () => {
  const { held, told, pass } = watched();
  held.see(1, { stable: 7, end: 9 });
  pass(HELD_UP_MS - 1);
  held.see(1, { stable: 7, end: 9 });
  expect(told).toEqual([]);
  pass(1);
  held.see(1, { stable: 7, end: 12 });
  held.see(1, { stable: 7, end: 12 });
  expect(told).toEqual([expect.stringContaining("Partition 1 of t.goals is held up at offset 7")]);
  for (const command of ["describe-producers --topic t.goals --partition 1", "find-hanging --topic t.goals", "abort --topic t.goals --partition 1 --start-offset 7"]) {
    expect(told[0]).toContain(`kafka-transactions.sh --bootstrap-server a:1,b:2 ${command}`);
  }
});
test("F47 transactions that come one after another hold up nobody, and one that is over begins anew", () => {
  const { held, told, pass } = watched();
  for (let at = 0; at < 9; at++) {
    held.see(0, { stable: at, end: 20 });
    pass(HELD_UP_MS - 1);
  }
  held.see(0, { stable: 9, end: 20 });
  held.see(0, { stable: 20, end: 20 });
  pass(HELD_UP_MS);
  held.see(0, { stable: 9, end: 20 });
  expect(told).toEqual([]);
  pass(HELD_UP_MS);
  held.see(0, { stable: 9, end: 20 });
  held.see(1, { stable: 0, end: 1 });
  expect(told).toHaveLength(1);
});
