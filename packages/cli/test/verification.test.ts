import type { CheckRun } from "@loopledger/shared/core/effects/handling";
import { Story, toBuild } from "@loopledger/shared/testing";
import { describe, expect, test } from "vitest";
import { describeError } from "../src/errors.ts";
import { type Verifying, verify } from "../src/verifying/verification.ts";

/** A receipt on a check that runs so now. */
function verifying(run: Partial<CheckRun>): Verifying {
  const ran = { verdict: "PASS", evidence: null, nextSteps: [], revision: null, cannotStart: false, usage: {}, ...run } as CheckRun;
  const check = { name: "tests", pin: () => Promise.resolve({ digest: "sha256:a", pinned: [] }), revision: () => Promise.resolve(null), run: () => Promise.resolve(ran) };
  const receipt = { check: { name: "tests", digest: "sha256:a" }, revision: null, finalCheckSeq: 8, seq: 9 };
  const { state } = new Story().given(...toBuild());
  return { state, receipt, final: { data: { evidence: null } }, check, blobs: {}, input: {}, live: () => undefined } as unknown as Verifying;
}

describe("a receipt whose check is run again", () => {
  test("holds where it passes, and does not where it fails", async () => {
    expect(await verify(verifying({}))).toMatchObject({ holds: true, reason: null });
    expect(await verify(verifying({ verdict: "FAIL", nextSteps: ["mend it"] }))).toMatchObject({ holds: false, reason: "check_failed" });
  });
  test("could not be judged on a full disk: an error that says so and what to do, not that it does not hold", async () => {
    const why = "the check could not start: ENOSPC the files of the run cannot be written: no space left on device, write";
    const error: unknown = await verify(verifying({ verdict: "INCONCLUSIVE", shortOf: "ENOSPC", evidence: { why } })).catch((thrown: unknown) => thrown);
    expect(describeError(error)).toMatchObject({ code: "disk_full", exitCode: 7, message: expect.stringContaining(why), next: expect.stringContaining("Free space") });
  });
  test("could not be judged where the host is short of something else either", async () => {
    const error: unknown = await verify(verifying({ verdict: "INCONCLUSIVE", shortOf: "EMFILE", evidence: { why: "EMFILE too many open files" } })).catch((thrown: unknown) => thrown);
    expect(describeError(error)).toMatchObject({ code: "check_unavailable", exitCode: 7 });
  });
});
