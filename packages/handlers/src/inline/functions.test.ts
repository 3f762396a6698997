import type { CheckRun, CycleEnd, ToolCall } from "@loopledger/shared/core/effects/handling";
import type { Epoch } from "@loopledger/shared/core/brand";
import { expect, test } from "vitest";
import { checkTask, makerTask, running, sessionId, stepsDouble, workbench } from "../../test/support.ts";
import type { StepApi } from "@loopledger/shared/core/effects/handling";
import type { FnCheckTask, FnMakerTask, FnToolCall } from "./functions.ts";

async function runMaker(fn: (task: FnMakerTask) => unknown, { steps, ...options }: { steps?: StepApi; timeoutSeconds?: number; signal?: AbortSignal } = {}): Promise<CycleEnd> {
  const bench = await workbench();
  const { signal, ...rest } = options;
  return (await bench.make({ makers: { m: { fn, ...rest } } }).maker("m")?.run(makerTask(steps ? { steps } : {}), running(signal))) as CycleEnd;
}
async function runCheck(fn: (task: FnCheckTask) => unknown): Promise<CheckRun> {
  const bench = await workbench();
  return (await bench.make({ checks: { c: { fn } } }).check("c")?.run(checkTask(), running())) as CheckRun;
}
const call: ToolCall = { sessionId, epoch: 4 as Epoch, key: "k-1", args: { a: 1 } };
async function tool(fn: (args: unknown, about: FnToolCall) => unknown, { signal = new AbortController().signal, ...options }: { signal?: AbortSignal; timeoutSeconds?: number } = {}) {
  const bench = await workbench();
  return bench.make({ tools: { t: { fn, ...options } } }).tool("t")?.call(call, signal);
}

test("a maker that is a function gets its input and the calls of its claim, and returns what a result file holds", async () => {
  const { api, asked } = stepsDouble();
  const end = await runMaker(async (task) => {
    const { outcome, result } = await task.tool("deploy", { to: "x" }, { key: "k" });
    await task.observe({ scope: "s", observedAt: "2030-01-01T00:00:00Z", outcome: "observed", items: [1] });
    await task.usage({ costUsd: 1 });
    const { messages } = await task.context(1000);
    return { summary: `${task.sessionId} ${task.iteration} ${task.task} ${task.epoch} ${outcome} ${JSON.stringify([result, messages, task.input["context"]])}`, revision: "r1" };
  }, { steps: api });
  expect(end).toEqual({ kind: "built", result: { summary: `${sessionId} 1 Make it work 1 confirmed [{"done":{"to":"x"}},[],[]]`, revision: "r1", usage: {} } });
  expect(asked.map((one) => (one as string[])[0])).toEqual(["tool", "observe", "usage", "context"]);
  expect(asked[0]).toEqual(["tool", "deploy", { to: "x" }, "k"]);
});

test("a text or nothing is a result too", async () => {
  expect(await runMaker(() => "done it")).toMatchObject({ kind: "built", result: { summary: "done it" } });
  expect(await runMaker(() => undefined)).toMatchObject({ kind: "built", result: { summary: "", revision: null, usage: {} } });
});

test("a durable step runs once: on a re-run its recorded result comes back", async () => {
  const { api, asked } = stepsDouble();
  let ran = 0;
  const maker = async (task: FnMakerTask) => ({ summary: String(await task.step("plan", () => { ran += 1; return `made ${ran}`; }, { input: { v: 1 } })) });
  expect(await runMaker(maker, { steps: api })).toMatchObject({ result: { summary: "made 1" } });
  expect(await runMaker(maker, { steps: api })).toMatchObject({ result: { summary: "made 1" } });
  expect(ran).toBe(1);
  expect(asked).toEqual([["step", "plan", { v: 1 }, null], ["step", "plan", { v: 1 }, "made 1"], ["step", "plan", { v: 1 }, null]]);
});

test("423 and 424 suspend it, whether it lets the error through or not; stale_owner stops it", async () => {
  const refusing = (status: 409 | 423 | 424, code: "stale_owner" | "approval_pending" | "incomplete_tool_turn") => stepsDouble({ tool: { ok: false, status, code, detail: "d" } }).api;
  const through = (task: FnMakerTask) => task.tool("t", {});
  const caught = async (task: FnMakerTask) => { await task.tool("t", {}).catch(() => undefined); };
  for (const maker of [through, caught]) {
    expect(await runMaker(maker, { steps: refusing(423, "approval_pending") })).toEqual({ kind: "suspended" });
    expect(await runMaker(maker, { steps: refusing(424, "incomplete_tool_turn") })).toEqual({ kind: "suspended" });
    expect(await runMaker(maker, { steps: refusing(409, "stale_owner") })).toEqual({ kind: "stopped" });
  }
});

test("other refusals and errors are failed attempts; an error may say that it is transient", async () => {
  const { api } = stepsDouble({ tool: { ok: false, status: 404, code: "unknown_tool", detail: "no tool t" } });
  expect(await runMaker((task) => task.tool("t", {}), { steps: api })).toMatchObject({ kind: "failed", failure: "deterministic", code: "unknown_tool", message: expect.stringContaining("no tool t") });
  expect(await runMaker(() => { throw new TypeError("broken"); })).toMatchObject({ failure: "deterministic", code: "maker_threw", message: "TypeError: broken" });
  expect(await runMaker(() => { throw Object.assign(new Error("busy"), { transient: true }); })).toMatchObject({ failure: "transient" });
  expect(await runMaker(() => { throw Object.assign(new Error("busy"), { retryAfterSeconds: 7 }); })).toMatchObject({ failure: "transient", retryAfterSeconds: 7 });
  expect(await runMaker(() => { throw null; })).toMatchObject({ failure: "deterministic" });
  expect(await runMaker(() => ({ failure: "transient", error: "limit" }))).toMatchObject({ failure: "transient", message: "limit" });
  expect(await runMaker(() => ({ big: 1n }))).toMatchObject({ failure: "deterministic", code: "maker_result_unreadable" });
  expect(await runMaker(() => ({ usage: { costUsd: -1 } }))).toMatchObject({ code: "maker_result_unreadable" });
});

test("its signal is aborted when its time is over or it is told to stop", async () => {
  const untilAborted = (task: FnMakerTask) => new Promise((_, reject) => task.signal.addEventListener("abort", () => reject(task.signal.reason as Error)));
  expect(await runMaker(untilAborted, { timeoutSeconds: 0.05 })).toMatchObject({ kind: "failed", code: "maker_timeout" });
  const stop = new AbortController();
  expect(await runMaker((task) => { queueMicrotask(() => stop.abort()); return untilAborted(task); }, { signal: stop.signal })).toEqual({ kind: "stopped" });
  let ran = false;
  expect(await runMaker(() => { ran = true; }, { signal: AbortSignal.abort() })).toEqual({ kind: "stopped" });
  expect(ran).toBe(false);
});

test("what goes on after its run is over reaches the claim no more", async () => {
  const { api, asked } = stepsDouble();
  let kept: FnMakerTask | undefined;
  await runMaker((task) => { kept = task; }, { steps: api });
  await expect(kept?.tool("deploy", {})).rejects.toMatchObject({ code: "stale_owner", status: 409 });
  await expect(kept?.step("late", () => 1)).rejects.toMatchObject({ code: "stale_owner" });
  expect(asked).toEqual([]);
});

test("a check that is a function returns what a validation file holds", async () => {
  const run = await runCheck((check) => ({ verdict: check.iteration < 2 ? "FAIL" : "PASS", evidence: { saw: check.built?.summary ?? null, in: check.sessionId }, next_steps: ["go on \ud800"] }));
  expect(run).toMatchObject({ verdict: "FAIL", evidence: { saw: "s", in: sessionId }, nextSteps: ["go on \uFFFD"] });
});

test.each([
  ["throws", () => { throw new Error("no database"); }, /no database/],
  ["returns nothing", () => undefined, /nothing/],
  ["returns another shape", () => true, /does not fit/],
  ["returns a circle", () => { const circle: Record<string, unknown> = {}; circle["self"] = circle; return circle; }, /no JSON/],
  ["returns too much", () => ({ verdict: "PASS", evidence: "x".repeat(2_000_000), next_steps: [] }), /larger/],
])("a check that %s is INCONCLUSIVE", async (_, fn, why) => {
  expect(await runCheck(fn)).toMatchObject({ verdict: "INCONCLUSIVE", evidence: { why: expect.stringMatching(why) } });
});

test("a check that is a function has no workspace and pins its source", async () => {
  const bench = await workbench();
  const handlers = bench.make({ checks: { a: { fn: () => ({ verdict: "PASS" }) }, b: { fn: () => ({ verdict: "FAIL" }) } } });
  expect(await handlers.check("a")?.revision()).toBeNull();
  expect((await handlers.check("a")?.pin())?.digest).not.toBe((await handlers.check("b")?.pin())?.digest);
});

test("a tool that is a function gets its arguments first, and key, epoch and session beside them", async () => {
  expect(await tool((args, about) => ({ args, key: about.key, epoch: about.epoch, in: about.sessionId, told: about.signal.aborted })))
    .toEqual({ kind: "confirmed", result: { args: { a: 1 }, key: "k-1", epoch: 4, in: sessionId, told: false } });
  expect(await tool(() => undefined)).toEqual({ kind: "confirmed", result: null });
});

test("what a tool throws is lost, unless it says that it did not happen", async () => {
  expect(await tool(() => { throw new Error("socket hang up"); })).toEqual({ kind: "lost", why: "socket hang up" });
  expect(await tool(() => { throw Object.assign(new Error("no such target"), { didNotHappen: true }); })).toEqual({ kind: "failed", class: "deterministic", result: { error: "no such target" } });
  expect(await tool(() => { throw Object.assign(new Error("busy"), { didNotHappen: true, retryAfterSeconds: 3 }); })).toMatchObject({ kind: "failed", class: "transient", retryAfterSeconds: 3 });
});

test.each([[1e300, 10_000_000], [Number.POSITIVE_INFINITY, 10_000_000], [1.5, 1.5], [0, 0], [-5, undefined], [Number.NaN, undefined], ["7", undefined]])("of a time asked for as %s it waits %s s", async (asked, seconds) => {
  const refusal = Object.assign(new Error("busy"), { didNotHappen: true, transient: true, retryAfterSeconds: asked });
  const answers = [await tool(() => { throw refusal; }), await runMaker(() => { throw refusal; })] as { readonly retryAfterSeconds?: number }[];
  expect(answers.map((answer) => answer.retryAfterSeconds)).toEqual([seconds, seconds]);
});
test("a maker that names a time too far off waits as long as it is waited for", async () => {
  expect(await runMaker(() => ({ failure: "transient", error: "limit", retryAfterSeconds: 1e300 }))).toMatchObject({ failure: "transient", retryAfterSeconds: 10_000_000 });
  expect(await runMaker(() => ({ failure: "transient", error: "limit", retryAt: "9999-12-31T23:59:59Z" }))).toMatchObject({ failure: "transient", retryAfterSeconds: 10_000_000 });
  expect(await runMaker(() => { throw Object.assign(new Error("busy"), { retryAt: Number.MAX_VALUE }); })).toMatchObject({ failure: "transient", retryAfterSeconds: 10_000_000 });
});

test("a tool's answer is a fact also where it cannot be written, or comes after it was told to stop", async () => {
  expect(await tool(() => ({ n: 1n }))).toMatchObject({ kind: "confirmed", result: { unreadable: expect.any(String) } });
  const stop = new AbortController();
  expect(await tool(() => { stop.abort(); return "applied"; }, { signal: stop.signal })).toEqual({ kind: "confirmed", result: "applied" });
  expect(await tool(() => "applied", { signal: AbortSignal.abort() })).toMatchObject({ kind: "failed", class: "transient" });
  expect(await tool((_, about) => new Promise((__, reject) => about.signal.addEventListener("abort", () => reject(new Error("aborted")))), { timeoutSeconds: 0.05 })).toMatchObject({ kind: "lost" });
});

test("a look-up that is a function says what became of a key; what it cannot say is unknown", async () => {
  const bench = await workbench();
  const { signal } = new AbortController();
  const look = async (lookup: (key: string, about: FnToolCall) => unknown) =>
    bench.make({ tools: { t: { fn: () => 1, contract: "lookup", lookup } } }).tool("t")?.look(call, signal);
  expect(await look((key, about) => ({ status: "happened", result: { key, epoch: about.epoch } }))).toEqual({ status: "happened", result: { key: "k-1", epoch: 4 }, evidence: { status: "happened" } });
  expect(await look(() => ({ status: "did_not_happen" }))).toEqual({ status: "did_not_happen", evidence: { status: "did_not_happen" } });
  expect(await look(() => ({ status: "no" }))).toMatchObject({ status: "unknown" });
  expect(await look(() => { throw new Error("down"); })).toMatchObject({ status: "unknown", evidence: { why: "down" } });
  expect(await bench.make({ tools: { t: { fn: () => 1 } } }).tool("t")?.look(call, signal)).toMatchObject({ status: "unknown" });
});
