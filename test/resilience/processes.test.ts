import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Running, Workshop, patienceMs } from "../cli/workshop.ts";
import { until } from "../support/until.ts";
import { type SlowTarget, slowTarget } from "./slow-target.ts";

/**
 * An orderly stop is over within five seconds, whatever is under way. On a machine that is busy with others the clock on the wall
 * says more: four times that is still far from the fifty seconds that the call here may take.
 */
const stopMsMax = 20_000;
const waiting = { timeoutMs: patienceMs / 2 };

let shop: Workshop;
let target: SlowTarget;
beforeEach(async () => {
  shop = new Workshop();
  target = await slowTarget();
});
afterEach(async () => {
  await shop.close();
  await target.close();
});

/** A goal whose maker deploys over the step protocol, and whose check wants the maker to have ended well. */
function project(contract: "idempotent" | "unsafe" = "idempotent"): void {
  shop.write("maker.mjs", `
const { LOOPLEDGER_STEP_URL: url, LOOPLEDGER_STEP_TOKEN: token } = process.env;
const answer = await fetch(url + "/tools/deploy", { method: "POST", headers: { authorization: "Bearer " + token, "content-type": "application/json" }, body: '{"args":{"version":1}}' });
if (answer.ok) (await import("node:fs")).writeFileSync("deployed", "");
process.exitCode = answer.ok ? 0 : 1;
`);
  shop.write("loopledger.config.json", JSON.stringify({
    makers: { m: { exec: [process.execPath, "maker.mjs"] } }, checks: { c: { exec: ["test", "-f", "deployed"] } },
    tools: { deploy: { http: { url: target.url, timeoutSeconds: 50 }, contract, callWindowSeconds: 120 } },
  }));
  shop.write("goal.json", JSON.stringify({ id: "s", goal: "deploy it", maker: "m", check: "c" }));
}
async function serving(variables: Readonly<Record<string, string>> = {}): Promise<{ readonly process: Running; readonly url: string }> {
  const serve = shop.start(["serve", "--port", "0"], variables);
  const port = await until(() => /on port (\d+)/.exec(serve.err())?.[1] ?? (/^ready$/m.test(serve.out()) ? "" : null), { what: "it to be ready", ...waiting });
  return { process: serve, url: `http://127.0.0.1:${port}` };
}
async function stopped({ process }: { readonly process: Running }): Promise<{ readonly code: number | string; readonly tookMs: number }> {
  const from = performance.now();
  process.process.kill("SIGTERM");
  const { code } = await process.ended;
  return { code, tookMs: performance.now() - from };
}
const typesOf = async (): Promise<string[]> => (await shop.records("s")).map((record) => record.type);

describe("an orderly stop", () => {
  test("while a call is under way is over in time with 0, says nothing of the call, and the next process goes on under the same key", async () => {
    project();
    const first = await serving();
    await shop.run("submit", "goal.json");
    await until(() => target.keys.length > 0, { what: "the call", ...waiting });
    expect(await stopped(first)).toMatchObject({ code: 0, tookMs: expect.toSatisfy((ms: number) => ms < stopMsMax) });
    const left = await typesOf();
    expect(left).toContain("tool_requested");
    expect(left).not.toContain("tool_result");
    expect(left).not.toContain("reconciled");
    target.answer();
    const second = await serving();
    expect(await shop.run("wait", "s")).toMatchObject({ code: 0 });
    expect(new Set(target.keys).size).toBe(1);
    expect((await stopped(second)).code).toBe(0);
  }, 3 * patienceMs);

  test("of a process that does nothing is over at once, with its streams open", async () => {
    project();
    const serve = await serving();
    const stream = await fetch(`${serve.url}/v1/stream`);
    expect(stream.status).toBe(200);
    expect(await stopped(serve)).toMatchObject({ code: 0, tookMs: expect.toSatisfy((ms: number) => ms < stopMsMax) });
    await stream.body?.cancel().catch(() => undefined);
  }, 2 * patienceMs);
});

/** All that a serving process of every role passes on the way of one session with a tool. */
const points = [
  "worker.after_read", "worker.after_lease", "worker.before_release", "worker.after_claim_append", "worker.after_claim_readback",
  "worker.before_intent", "worker.after_intent_append", "worker.after_intent_readback", "worker.after_effect", "worker.after_outcome_append",
  "worker.before_built", "worker.after_built_append", "checker.after_claim_append", "checker.before_check", "checker.after_check_append",
  "checker.before_receipt", "checker.after_receipt_append", "scheduler.before_dispatch", "scheduler.after_dispatch_append",
  "projector.before_write", "projector.after_write", "intake.before_append", "intake.after_append",
];

test("a throw at every failpoint of one process: it lives, readiness tells of it, it recovers, and the session gets to its end", async () => {
  project();
  target.answer();
  const serve = await serving({ LOOPLEDGER_FAILPOINTS: points.map((point) => `${point}=throw`).join(",") });
  const seen = new Set<string>();
  const look = async (): Promise<readonly string[]> => {
    const { faults } = (await (await fetch(`${serve.url}/readyz`)).json()) as { readonly faults: readonly string[] };
    for (const name of faults) seen.add(name);
    return faults;
  };
  // A throw behind an intent leaves it to be settled, and that goes another way: the next session passes the point behind that one.
  for (const id of ["s", "t", "u"]) {
    const body = JSON.stringify({ ...JSON.parse(shop.read("goal.json")), id, policy: { failureFirst: id === "s" } });
    await until(async () => {
      await look();
      return (await fetch(`${serve.url}/v1/sessions`, { method: "POST", headers: { "content-type": "application/json" }, body })).ok;
    }, { what: `${id} to be taken`, ...waiting });
    await until(async () => {
      await look();
      return ((await (await fetch(`${serve.url}/v1/sessions/${id}`)).json()) as { readonly disposition: string }).disposition === "done";
    }, { what: `the end of ${id}; ${serve.process.err().slice(-1_000)}`, ...waiting });
  }
  await until(async () => (await look()).length === 0, { what: "readiness", ...waiting });
  expect([...seen]).toEqual(expect.arrayContaining(["cycles"]));
  expect(points.filter((point) => !serve.process.err().includes(`failpoint ${point} fired`))).toEqual([]);
  expect(await stopped(serve)).toMatchObject({ code: 0 });
}, 3 * patienceMs);
