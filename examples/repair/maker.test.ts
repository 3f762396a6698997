import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { until } from "../../test/support/until.ts";
import { changes } from "./changes.mjs";
import { apply } from "./search/candidates.mjs";
import { search } from "./search/search.mjs";
import { runSuite } from "./suite/run-suite.mjs";
import { FAULTS, openStage, type Stage } from "./testing/stage.ts";

/** Each test starts several processes: on a busy machine that takes its time. */
vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(async () => {
  await stage.close();
});

function repairAll() {
  for (const { file, wrong, right } of FAULTS) stage.replace(file, wrong, right);
}

describe("the whole repair", () => {
  it("takes one build for each fault, the next from the check's next steps, and opens one pull request", async () => {
    const remaining: number[] = [];
    let { validation } = await stage.check();
    while (validation.verdict === "FAIL" && remaining.length < 6) {
      remaining.push(validation.evidence.remaining);
      expect(await stage.build(validation.next_steps[0])).toMatchObject({ ended: { code: 0 } });
      ({ validation } = await stage.check());
    }
    expect(remaining).toEqual([6, 3, 2]);
    expect(validation).toMatchObject({ verdict: "PASS", evidence: { remaining: 0, failing: [] }, next_steps: [] });
    expect(changes(join(stage.place, "base"), stage.workspace).map(({ file }) => file)).toEqual(FAULTS.map(({ file }) => file));
    for (const { file, right } of FAULTS) expect(stage.read(file)).toContain(right);
    expect(stage.effects().filter(({ kind }) => kind === "application")).toHaveLength(1);
  });

  it("repairs what the task names and leaves the other faults", async () => {
    const { result } = await stage.build("Make this test pass: test/discount.mjs: a step begins with its own quantity (0 !== 5)");
    expect(result.summary).toContain("src/discount.mjs:11 boundary");
    expect(changes(join(stage.place, "base"), stage.workspace).map(({ file }) => file)).toEqual(["src/discount.mjs"]);
    expect(stage.effects()).toEqual([]);
  });

  it("asks for the same pull request again when the build is run again", async () => {
    repairAll();
    const first = await stage.build("the goal");
    const second = await stage.build("the goal");
    expect(second.result).toEqual(first.result);
    const calls = stage.effects().filter(({ kind }) => kind === "call");
    expect(calls).toHaveLength(2);
    expect(calls[1]).toMatchObject({ key: calls[0]?.key, argsDigest: calls[0]?.argsDigest });
    expect(stage.effects().filter(({ kind }) => kind === "application")).toHaveLength(1);
  });
});

describe("other faults than the delivered ones", () => {
  it.each([
    ["a wrong operator", "src/invoice.mjs", "gross: net + tax", "gross: net - tax"],
    ["a wrong rounding", "src/money.mjs", "Math.round((amount", "Math.floor((amount"],
    ["an off-by-one constant", "src/dates.mjs", ".slice(0, 10)", ".slice(0, 11)"],
    ["a boundary", "src/invoice.mjs", "> GRACE_DAYS", ">= GRACE_DAYS"],
    ["a lost negation", "src/invoice.mjs", "!invoice.paid &&", "invoice.paid &&"],
    ["a constant outside of all functions", "src/discount.mjs", "{ from: 50, rate: 10 }", "{ from: 50, rate: 15 }"],
    ["operands in the wrong order", "src/dates.mjs", "(Date.parse(to) - Date.parse(from))", "(Date.parse(from) - Date.parse(to))"],
    ["a missing await inside a sum", "src/exchange.mjs", "sum += await convert(", "sum += convert("],
    ["a wrong name", "src/invoice.mjs", "percent(net, invoice.taxRate)", "percent(sum, invoice.taxRate)"],
  ])("%s is found and undone without breaking another test", async (_, file, right, wrong) => {
    repairAll();
    const whole = stage.read(file);
    stage.replace(file, right, wrong);
    const before = await runSuite(stage.workspace);
    if (!before.ran) throw new Error(before.why);
    const target = before.tests.find(({ passed }) => !passed);
    if (target === undefined) throw new Error("the fault makes no test fail");
    const options = { folder: stage.workspace, scratch: join(stage.place, "scratch"), tests: before.tests, triesMax: 600 };
    const { candidate } = await search({ ...options, target, deadline: performance.now() + 240_000 });
    if (candidate === null) throw new Error("no edit was found");
    expect(candidate.file).toBe(file);
    expect(apply(stage.read(file), candidate).replaceAll(" ", "")).toBe(whole.replaceAll(" ", ""));
  });
});

describe("a maker that cannot go on", () => {
  it("gives up for good where no single edit helps, and bends neither code nor test to get there", async () => {
    repairAll();
    stage.replace("test/money.mjs", 'assert.equal(format(0), "0.00 EUR");', 'assert.equal(format(0), "0.01 EUR");');
    const before = [stage.read("src/money.mjs"), stage.read("test/money.mjs")];
    const { ended, result } = await stage.build("Make this test pass: test/money.mjs: format writes two digits and the currency");
    expect(ended.code).toBe(1);
    expect(result).toMatchObject({ failure: "deterministic" });
    expect([stage.read("src/money.mjs"), stage.read("test/money.mjs")]).toEqual(before);
  });

  it("says that trying again may help where the tests cannot be run", async () => {
    stage.replace("package.json", "node --test", "vitest");
    const { ended, result } = await stage.build("anything");
    expect(ended.code).toBe(75);
    expect(result).toMatchObject({ failure: "transient" });
  });

  it("leaves the workspace as it was when it is killed while it searches, and clears the rest next time", async () => {
    const scratch = join(stage.place, "scratch");
    const program = join(import.meta.dirname, "maker.mjs");
    const child = spawn(process.execPath, [program, "--place", stage.place], { cwd: stage.workspace, stdio: ["pipe", "ignore", "ignore"] });
    const gone = new Promise((resolve) => child.once("close", resolve));
    child.stdin.end(JSON.stringify({ task: "the goal" }));
    await until(() => existsSync(join(scratch, String(child.pid), "lane-1", "package.json")), { what: "a search at work" });
    child.kill("SIGKILL");
    await gone;
    expect(changes(join(stage.place, "base"), stage.workspace)).toEqual([]);
    expect(readdirSync(scratch)).toEqual([String(child.pid)]);
    await stage.build("the goal");
    expect(readdirSync(scratch)).toEqual([]);
  });
});
