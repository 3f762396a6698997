import { request } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { stepsDouble } from "../../test/support.ts";
import { StepServerUnreachable, stepClient } from "../step-client.ts";
import { startStepServer } from "./server.ts";

async function mounted(options: { tools?: boolean; answers?: Parameters<typeof stepsDouble>[0] } = {}) {
  const server = await startStepServer();
  onTestFinished(() => server.close());
  const double = stepsDouble(options.answers ?? {});
  const mount = server.mount(double.api, { tools: options.tools ?? true });
  const ask = (path: string, init: { method?: string; body?: string; token?: string; headers?: Record<string, string> } = {}) =>
    fetch(mount.url + path, {
      method: init.method ?? (init.body === undefined ? "GET" : "POST"), ...(init.body === undefined ? {} : { body: init.body }),
      headers: { authorization: `Bearer ${init.token ?? mount.token}`, ...init.headers },
    }).then(async (response) => ({ status: response.status, type: response.headers.get("content-type"), body: (await response.json()) as Record<string, unknown>, allow: response.headers.get("allow") }));
  return { server, mount, ask, ...double };
}

test("each route reaches its call of the claim", async () => {
  const { ask, asked } = await mounted();
  const digest = `sha256:${"1".repeat(64)}`;
  expect(await ask("/tools/deploy", { body: '{"args":{"to":"x"},"key":"k-1"}' })).toMatchObject({ status: 200, body: { outcome: "confirmed", result: { done: { to: "x" } } } });
  expect(await ask("/steps/plan%20a", { body: '{"input":{"v":1}}' })).toMatchObject({ status: 200, body: { recorded: false, result: null } });
  expect(await ask("/steps/plan%20a", { body: '{"input":{"v":1},"result":null}' })).toMatchObject({ status: 200, body: { recorded: true } });
  expect(await ask("/observations", { body: JSON.stringify({ scope: "s", observedAt: "2030-01-01T00:00:00Z", pagination: { page: 1, complete: true }, outcome: "observed_empty", items: [] }) })).toMatchObject({ body: { seq: 7 } });
  expect(await ask("/retrievals", { body: JSON.stringify({ query: "q", items: [{ id: "a", digest }] }) })).toMatchObject({ body: { seq: 8 } });
  expect(await ask("/usage", { body: '{"costUsd":0.5}' })).toMatchObject({ status: 200, body: {} });
  expect(await ask("/model", { body: '{"provider":"p","model":"m"}' })).toMatchObject({ body: { seq: 9 } });
  expect(await ask("/reserve", { body: '{"tokens":5}' })).toMatchObject({ body: { id: "r-1" } });
  expect(await ask("/budget")).toMatchObject({ body: { iterations: { remaining: 3 } } });
  expect(await ask("/context?tokens=500")).toMatchObject({ body: { tokens: 1, messages: [] } });
  expect(asked.map((one) => (one as unknown[]).slice(0, 2))).toEqual([
    ["tool", "deploy"], ["step", "plan a"], ["step", "plan a"], ["observe", expect.anything()], ["retrieval", "q"], ["usage", { costUsd: 0.5 }],
    ["model", expect.anything()], ["reserve", { tokens: 5 }], ["budget"], ["context", 500],
  ]);
});

test.each([
  [409, "stale_owner"], [423, "approval_pending"], [424, "incomplete_tool_turn"], [409, "key_conflict"], [404, "unknown_tool"],
] as const)("a refusal of the claim is a problem document: %i %s", async (status, code) => {
  const { ask } = await mounted({ answers: { tool: { ok: false, status, code, detail: "because" } } });
  expect(await ask("/tools/deploy", { body: "{}" })).toMatchObject({ status, type: "application/problem+json", body: { status, code, detail: "because", next: expect.stringMatching(/./) } });
});

test("a wrong token is refused, and one whose run is over is a stale owner's", async () => {
  const { ask, mount, server, asked } = await mounted();
  const other = await startStepServer();
  onTestFinished(() => other.close());
  const [id = "", seal = ""] = mount.token.split(".");
  const flipped = `${id}.${seal.startsWith("A") ? "B" : "A"}${seal.slice(1)}`;
  for (const token of ["", "x", `${mount.token}x`, flipped, `${id}.`, other.mount(stepsDouble().api, { tools: true }).token]) {
    expect(await ask("/budget", { token }), token).toMatchObject({ status: 401, body: { code: "unauthorized" } });
  }
  const second = server.mount(stepsDouble().api, { tools: true });
  mount.unmount();
  expect(await ask("/tools/deploy", { body: "{}" })).toMatchObject({ status: 409, body: { code: "stale_owner" } });
  expect(await ask("/budget", { token: second.token })).toMatchObject({ status: 200 });
  expect(asked).toEqual([]);
});

test("a check has no tools", async () => {
  const { ask, asked } = await mounted({ tools: false });
  expect(await ask("/tools/deploy", { body: "{}" })).toMatchObject({ status: 404, body: { code: "unknown_tool" } });
  expect(await ask("/budget")).toMatchObject({ status: 200 });
  expect(asked).toEqual([["budget"]]);
});

test.each([
  ["no JSON", "/tools/t", "{", 400], ["a list", "/tools/t", "[]", 400], ["an unknown field", "/tools/t", '{"arg":1}', 400], ["a key that is empty", "/tools/t", '{"key":""}', 400],
  ["half a name", "/steps/%ff", "{}", 400], ["a name that is too long", `/steps/${"x".repeat(200)}`, "{}", 400], ["another outcome", "/observations", '{"scope":"s","observedAt":"x","outcome":"fine"}', 400],
  ["negative usage", "/usage", '{"costUsd":-1}', 400], ["a prototype key", "/tools/t", '{"args":{"__proto__":{}}}', 400], ["100,000 levels", "/tools/t", `{"args":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, 400],
  ["a body that is too large", "/tools/t", `{"args":"${"x".repeat(11_000_000)}"}`, 413],
])("%s is refused before it reaches the claim", async (...row) => {
  const [, path, body, status] = row;
  const { ask, asked } = await mounted();
  expect(await ask(path, { body })).toMatchObject({ status, type: "application/problem+json", body: { code: status === 413 ? "too_large" : "bad_request", next: expect.any(String) } });
  expect(asked).toEqual([]);
});

test("unknown routes and methods are problem documents too", async () => {
  const { ask } = await mounted();
  for (const path of ["/", "/tools", "/tools/a/b", "/budget/x", "/constructor", "/__proto__"]) expect(await ask(path), path).toMatchObject({ status: 404, body: { code: "not_found" } });
  expect(await ask("/tools/deploy")).toMatchObject({ status: 405, allow: "POST" });
  expect(await ask("/budget", { body: "{}" })).toMatchObject({ status: 405, allow: "GET" });
  for (const tokens of ["", "0", "x", "1.5"]) expect(await ask(`/context?tokens=${tokens}`), tokens).toMatchObject({ status: 400 });
});

test("a web page or another host name cannot drive it", async () => {
  const { ask, mount, asked } = await mounted();
  expect(await ask("/budget", { headers: { origin: "http://127.0.0.1" } })).toMatchObject({ status: 403 });
  const status = await new Promise((resolve, reject) => {
    request(`${mount.url}/budget`, { headers: { host: "evil.example", authorization: `Bearer ${mount.token}` } }, (response) => resolve(response.statusCode)).on("error", reject).end();
  });
  expect(status).toBe(403);
  expect(asked).toEqual([]);
});

test("an error behind it is a 500 without its text, and is logged without the token", async () => {
  const logged: unknown[] = [];
  const server = await startStepServer({ log: { warn: (...line) => void logged.push(line) } });
  onTestFinished(() => server.close());
  const mount = server.mount({ ...stepsDouble().api, budget: () => Promise.reject(new Error("inner secret")) }, { tools: true });
  const response = await fetch(`${mount.url}/budget`, { headers: { authorization: `Bearer ${mount.token}` } });
  expect([response.status, await response.text()]).toEqual([500, expect.not.stringContaining("inner secret")]);
  expect(logged).toHaveLength(1);
  expect(JSON.stringify(logged)).not.toContain(mount.token);
});

test.each([["node's own client", undefined], ["fetch", globalThis.fetch]])("the client speaks it through %s", async (_, fetch) => {
  const { mount, asked } = await mounted({ answers: { tool: { ok: false, status: 423, code: "approval_pending", detail: "a person decides" } } });
  const client = stepClient({ ...mount, fetch });
  expect(await client.tool("deploy it/now", { a: 1 }, "k")).toEqual({ ok: false, status: 423, code: "approval_pending", detail: "a person decides" });
  expect(await client.step("s", { i: 1 }, "r")).toEqual({ ok: true, value: { recorded: true, result: "r" } });
  expect(await client.context(10)).toMatchObject({ ok: true, value: { tokens: 1 } });
  expect(await client.reserve({ tokens: 1 })).toEqual({ ok: true, value: { id: "r-1" } });
  expect(await client.observe({ scope: "s", observedAt: "t", outcome: "failed", items: [] })).toEqual({ ok: true, value: { seq: 7 } });
  expect(asked[0]).toEqual(["tool", "deploy it/now", { a: 1 }, "k"]);
  mount.unmount();
  expect(await client.budget()).toMatchObject({ ok: false, status: 409, code: "stale_owner" });
});

test("the client says so where no step server answers", async () => {
  const { mount, server } = await mounted();
  await server.close();
  await expect(stepClient(mount).budget()).rejects.toBeInstanceOf(StepServerUnreachable);
});
