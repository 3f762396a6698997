import { expect, it } from "vitest";
import { createVirtualClock } from "../adapters/memory/index.ts";
import { parseFailpoints } from "./failpoints.ts";

it.each(["foo=kill", "worker.after_read", "worker.after_read=boom", "worker.after_read=delay:x", "worker.after_read=kill@0", "worker.after_read=kill@x", "="])(
  "a setting that would never fire is a fault, not silence: %s", (setting) => {
    expect(parseFailpoints(`checker.before_check=kill,${setting}`, createVirtualClock()).faults).toEqual([expect.stringContaining(`"${setting}"`)]);
  },
);
it("fires at the pass that was asked for, and only there", async () => {
  const { failpoints, faults } = parseFailpoints("worker.after_read=throw@2", createVirtualClock());
  expect(faults).toEqual([]);
  await failpoints.pass("worker.after_read");
  await expect(failpoints.pass("worker.after_read")).rejects.toThrow("worker.after_read");
  await failpoints.pass("worker.after_read");
});
