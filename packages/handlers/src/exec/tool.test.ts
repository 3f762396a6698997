import type { Epoch } from "@loopledger/shared/core/brand";
import type { ToolAnswer, ToolCall } from "@loopledger/shared/core/effects/handling";
import { expect, test } from "vitest";
import { fixture, makerTask, running, sessionId, stepsDouble, workbench } from "../../test/support.ts";

const call: ToolCall = { sessionId, epoch: 4 as Epoch, key: "deploy:prod; touch canary", args: { to: "$(touch canary)" } };
async function runLine(line: string, { signal = new AbortController().signal, ...options }: { signal?: AbortSignal; timeoutSeconds?: number } = {}) {
  const bench = await workbench();
  return (await bench.make({ tools: { t: { exec: line, shell: true, ...options } } }).tool("t")?.call(call, signal)) as ToolAnswer;
}

test("a tool that is a program gets its arguments on stdin, and key, session and epoch beside them", async () => {
  const line = `printf '{"args":%s,"key":"%s","in":"%s","epoch":"%s","step":"%s"}' "$(cat)" "$LOOPLEDGER_IDEMPOTENCY_KEY" "$LOOPLEDGER_SESSION" "$LOOPLEDGER_EPOCH" "$LOOPLEDGER_STEP_TOKEN" > "$LOOPLEDGER_RESULT"`;
  expect(await runLine(line)).toEqual({ kind: "confirmed", result: { args: call.args, key: call.key, in: sessionId, epoch: "4", step: "" } });
});

test("exit 0 is confirmed, whatever its result looks like", async () => {
  expect(await runLine("true")).toEqual({ kind: "confirmed", result: null });
  expect(await runLine("echo applied")).toEqual({ kind: "confirmed", result: { output: "applied\n" } });
  expect(await runLine('echo "{" > "$LOOPLEDGER_RESULT"')).toMatchObject({ kind: "confirmed", result: { unreadable: expect.stringMatching(/JSON/) } });
});

test("75 says that nothing happened; any other end is lost", async () => {
  expect(await runLine('echo \'{"retryAfterSeconds":9}\' > "$LOOPLEDGER_RESULT"; echo busy; exit 75')).toEqual({ kind: "failed", class: "transient", result: { error: "busy" }, retryAfterSeconds: 9 });
  expect(await runLine("echo half way; exit 1")).toEqual({ kind: "lost", why: "the tool ended with exit code 1: half way" });
  expect(await runLine("kill -9 $$")).toMatchObject({ kind: "lost", why: expect.stringMatching(/SIGKILL/) });
  expect(await runLine("exec sleep 100", { timeoutSeconds: 0.2 })).toMatchObject({ kind: "lost", why: expect.stringMatching(/timeout/) });
});

test("one that cannot start, or is told to stop before it began, did not happen", async () => {
  const bench = await workbench();
  expect(await bench.make({ tools: { t: { exec: ["./missing"] } } }).tool("t")?.call(call, new AbortController().signal)).toMatchObject({ kind: "failed", class: "deterministic" });
  expect(await runLine("true", { signal: AbortSignal.abort() })).toMatchObject({ kind: "failed", class: "transient" });
});

test("a maker's tool runs beside it", async () => {
  const bench = await workbench();
  const handlers = bench.make({
    makers: { m: { exec: ["node", fixture("step-call.mjs"), "tools/t", '{"args":{}}'] } }, tools: { t: { exec: ["echo", "applied"] } },
  });
  const steps = { ...stepsDouble().api, tool: async () => {
    const answer = await handlers.tool("t")?.call(call, new AbortController().signal);
    return { ok: true as const, value: { outcome: "confirmed" as const, result: answer?.kind === "confirmed" ? answer.result : null } };
  } };
  expect(await handlers.maker("m")?.run(makerTask({ steps }), running())).toMatchObject({ kind: "built", log: { tail: '200 {"outcome":"confirmed","result":{"output":"applied\\n"}}\n' } });
});
