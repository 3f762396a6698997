import { expect, test } from "vitest";
import { COMING_UP_MS, ComingUp, onceUp } from "./coming-up.ts";

const loading = new Error("gave up", { cause: Object.assign(new Error("The coordinator is loading"), { type: "GROUP_LOAD_IN_PROGRESS" }) });

test("a coordinator that comes up is told only when it lasts", () => {
  const comingUp = new ComingUp();
  expect([0, COMING_UP_MS - 1, COMING_UP_MS, COMING_UP_MS + 5].map((at) => comingUp.isWorthTelling(loading, at))).toEqual([false, false, true, true]);
});
test("after the group was joined, or failed otherwise, the time begins anew", () => {
  const comingUp = new ComingUp();
  expect(comingUp.isWorthTelling(loading, 0)).toBe(false);
  comingUp.isUp();
  expect(comingUp.isWorthTelling(loading, COMING_UP_MS)).toBe(false);
  expect(comingUp.isWorthTelling(new Error("refused"), COMING_UP_MS + 1)).toBe(true);
  expect(comingUp.isWorthTelling(loading, 2 * COMING_UP_MS)).toBe(false);
});
test("what is asked of a coordinator that comes up is answered once it is up; any other failure is told at once", async () => {
  let asked = 0;
  const answer = async (): Promise<string> => {
    asked += 1;
    if (asked < 3) throw loading;
    return "here";
  };
  expect([await onceUp(answer), asked]).toEqual(["here", 3]);
  await expect(onceUp(() => Promise.reject(new Error("refused")))).rejects.toThrow("refused");
});
