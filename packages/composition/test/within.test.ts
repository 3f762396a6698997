import { expect, test } from "vitest";
import { createVirtualClock } from "@loopledger/shared/memory";
import { Supervision } from "@loopledger/shared/runtime";
import { probeMs, within } from "@loopledger/composition/process/within";

function part() {
  const clock = createVirtualClock();
  return { clock, part: new Supervision({ clock, report: () => undefined }).part("figures") };
}

test("an answer that comes is the answer, and a refusal is none", async () => {
  expect(await within(part().part, Promise.resolve("there"), "no answer")).toBe("there");
  expect(await within(part().part, Promise.reject(new Error("away")), "no answer")).toBe("no answer");
});

test("what never answers is told as that, once its time is over", async () => {
  const { clock, part: figures } = part();
  const told: string[] = [];
  const asked = within(figures, new Promise<string>(() => undefined), "no answer").then((answer) => told.push(answer));
  await clock.advance(probeMs - 1);
  expect(told).toEqual([]);
  await clock.advance(1);
  await asked;
  expect(told).toEqual(["no answer"]);
});
