import { expect, test } from "vitest";
import { createVirtualClock } from "../adapters/memory/index.ts";
import { Supervision } from "./supervision.ts";

function supervised() {
  const clock = createVirtualClock();
  const told: string[] = [];
  return { clock, told, supervision: new Supervision({ clock, report: (error, what) => told.push(`${String(error)}: ${what}`) }) };
}
/** Fails so many times, in one way or the other, then notes when it worked. */
function failing(times: number, how: "throws" | "rejects") {
  const calls: number[] = [];
  return {
    calls,
    call: (now: () => number) => (): unknown => {
      calls.push(now());
      if (calls.length > times) return undefined;
      if (how === "rejects") return Promise.reject(new Error("struck"));
      throw new Error("struck");
    },
  };
}

test.each(["throws", "rejects"] as const)("a timer that %s is called again after pauses that double up to five seconds, and is faulty until it has worked", async (how) => {
  const { clock, supervision } = supervised();
  const { calls, call } = failing(8, how);
  const part = supervision.part("timer");
  part.after(1_000, call(clock.monotonic));
  expect(supervision.faulty()).toEqual([]);
  await clock.advance(1_000);
  expect(supervision.faulty()).toEqual(["timer"]);
  await clock.advance(60_000);
  expect(supervision.faulty()).toEqual([]);
  const pauses = calls.map((at, index) => at - (calls[index - 1] ?? 0));
  expect(pauses).toEqual([1_000, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
});

test("what is wanted no more is not called again, and no fault", async () => {
  const { clock, supervision } = supervised();
  const { calls, call } = failing(100, "throws");
  const cancel = supervision.part("timer").now(call(clock.monotonic));
  await clock.advance(500);
  expect(supervision.faulty()).toEqual(["timer"]);
  cancel();
  const { length } = calls;
  await clock.advance(60_000);
  expect([supervision.faulty(), calls.length]).toEqual([[], length]);
});

test("one of a kind that works says nothing of another that fails", () => {
  const { supervision } = supervised();
  const part = supervision.part("sessions");
  part.failed(new Error("struck"), "a");
  part.works("b");
  expect(supervision.faulty()).toEqual(["sessions"]);
  part.works("a");
  expect(supervision.faulty()).toEqual([]);
});

test("the same failure over and over is told ever more rarely", () => {
  const { supervision, told } = supervised();
  for (let times = 0; times < 100; times++) supervision.part("timer").failed(new Error("struck"));
  expect(told).toHaveLength(7);
});

test("neither a clock that throws nor a log that throws loses what waits", async () => {
  const clock = createVirtualClock();
  let isBroken = true;
  const after = (delayMs: number, call: () => void): (() => void) => {
    if (isBroken) throw new Error("no timers");
    return clock.after(delayMs, call);
  };
  const supervision = new Supervision({ clock: { after }, report: () => {
    throw new Error("no room for logs");
  } });
  const worked = Promise.withResolvers<void>();
  supervision.part("timer").after(1, worked.resolve);
  expect(supervision.faulty()).toEqual(["timer"]);
  isBroken = false;
  await worked.promise;
  expect(supervision.faulty()).toEqual([]);
});
