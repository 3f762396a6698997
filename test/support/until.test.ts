import { expect, test } from "vitest";
import { until } from "./until.ts";

test("until gives the first truthy value that the condition gives", async () => {
  const answers = [null, 0, "", "ready"];
  expect(await until(() => answers.shift(), { what: "the last answer" })).toBe("ready");
});

test("until takes an error of the condition as not yet", async () => {
  let looks = 0;
  const seen = await until(
    () => {
      looks += 1;
      if (looks < 3) throw new Error("the file is not there");
      return looks;
    },
    { what: "the third look" },
  );
  expect(seen).toBe(3);
});

test("until says what it waited for, and the last error, when the time is over", async () => {
  const cause = new Error("connection refused");
  const waiting = until(() => Promise.reject(cause), { timeoutMs: 0, what: "the port to open" });
  await expect(waiting).rejects.toMatchObject({ message: "waited 0 ms in vain for the port to open", cause });
});
