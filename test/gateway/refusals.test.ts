import { request } from "node:http";
import { describe, expect, test } from "vitest";
import { goalBytesMax } from "@loopledger/shared/core/events/goal";
import { memoryPlace } from "../support/walks.ts";
import { problemCodes, problemEntry } from "../../services/gateway/src/problems.ts";
import { answers } from "../../services/gateway/src/schemas.ts";
import { startGateway } from "../../services/gateway/src/gateway.ts";
import { type Answer, type Asked, asking, listening, opened } from "./serving.ts";

const goal = { goal: "Make the login test pass", maker: "agent", check: "tests" };
const json = { "content-type": "application/json" };
const deep = `{"goal":"x","maker":"m","check":"c","inputs":{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}}`;

function isProblem(answer: Answer, status: number, code: string): void {
  expect([answer.status, answer.headers["content-type"]], answer.text.slice(0, 300)).toEqual([status, "application/problem+json; charset=utf-8"]);
  expect(answers.problem.strict().parse(answer.json)).toMatchObject({ status, code });
  expect((answer.json as { next: string; detail: string }).next).not.toBe("");
  expect((answer.json as { next: string; detail: string }).detail).not.toBe("");
}

describe("refusals are problem documents", () => {
  test.each<[string, string, string, Asked, number, string]>([
    ["a path that is not there", "GET", "/v2/sessions", {}, 404, "not_found"],
    ["a session that is not there", "GET", "/v1/sessions/nobody", {}, 404, "unknown_session"],
    ["the events of no session", "GET", "/v1/sessions/nobody/events", {}, 404, "unknown_session"],
    ["an act on no session", "POST", "/v1/sessions/nobody/cancel", {}, 404, "unknown_session"],
    ["an id that can be none", "GET", "/v1/sessions/a%20b", {}, 400, "invalid_request"],
    ["an id longer than any", "GET", `/v1/sessions/${"a".repeat(200)}`, {}, 400, "invalid_request"],
    ["an address that cannot be read", "GET", "/v1/sessions/%zz", {}, 400, "invalid_request"],
    ["a method that the path does not take", "DELETE", "/v1/sessions", {}, 405, "method_not_allowed"],
    ["a method that nothing takes", "OPTIONS", "/v1/sessions/a/cancel", {}, 405, "method_not_allowed"],
    ["a query that is unknown", "GET", "/v1/sessions?dispositon=done", {}, 400, "invalid_request"],
    ["a disposition that is unknown", "GET", "/v1/sessions?disposition=sleeping", {}, 400, "invalid_request"],
    ["a limit of nothing", "GET", "/v1/sessions?limit=0", {}, 400, "invalid_request"],
    ["a negative seq", "GET", "/v1/sessions/nobody?atLeast=-1", {}, 400, "invalid_request"],
    ["no JSON", "POST", "/v1/sessions", { body: "{", headers: json }, 400, "invalid_request"],
    ["no YAML", "POST", "/v1/sessions", { body: "goal: [", headers: { "content-type": "application/yaml" } }, 400, "invalid_request"],
    ["YAML that grows", "POST", "/v1/sessions", { body: `a: &a [${"x,".repeat(99)}x]\nb: [${"*a,".repeat(120)}*a]\n`, headers: { "content-type": "application/yaml" } }, 400, "invalid_request"],
    ["an empty body", "POST", "/v1/sessions", {}, 400, "invalid_goal"],
    ["a goal without a check", "POST", "/v1/sessions", { body: { goal: "x", maker: "m" } }, 400, "invalid_goal"],
    ["a goal with half a character", "POST", "/v1/sessions", { body: `{"goal":"x","maker":"m","check":"c","inputs":{"a":"\\ud800"}}`, headers: json }, 400, "invalid_goal"],
    ["a goal whose leaves wait for each other", "POST", "/v1/sessions", { body: { ...goal, leaves: [{ id: "a", title: "A", after: ["b"] }, { id: "b", title: "B", after: ["a"] }] } }, 400, "invalid_goal"],
    ["a goal that is nested too deeply", "POST", "/v1/sessions", { body: deep, headers: json }, 400, "invalid_request"],
    ["a goal that is too large", "POST", "/v1/sessions", { body: { ...goal, inputs: { a: "x".repeat(goalBytesMax) } } }, 413, "payload_too_large"],
    ["a goal of 2 MB", "POST", "/v1/sessions", { body: { ...goal, goal: "x".repeat(2_000_000) } }, 413, "payload_too_large"],
    ["a body that is too large", "POST", "/v1/sessions/a/guidance", { body: { text: "x".repeat(1_100_000) } }, 413, "payload_too_large"],
    ["a form", "POST", "/v1/sessions", { body: "goal=x", headers: { "content-type": "application/x-www-form-urlencoded" } }, 415, "unsupported_media_type"],
    ["plain text", "POST", "/v1/sessions/a/cancel", { body: "now", headers: { "content-type": "text/plain" } }, 415, "unsupported_media_type"],
    ["an Idempotency-Key without a character", "POST", "/v1/sessions", { body: goal, headers: { "idempotency-key": " " } }, 400, "invalid_request"],
  ])("%s", async (...[, method, url, asked, status, code]) => {
    const { ask } = await asking();
    isProblem(await ask(method, url, asked), status, code);
  });

  test("a field that is nearly right is named with the one that was meant, every mistake at once", async () => {
    const { post } = await asking();
    const refused = await post("/v1/sessions", { gaol: "x", maker: "m", check: "c", policy: { breaker: { sane: 3 } }, budget: { iterations: 0 } });
    isProblem(refused, 400, "invalid_goal");
    const { faults } = refused.json as { faults: string[] };
    expect(faults).toEqual(expect.arrayContaining(["gaol: unknown field; did you mean goal?", "policy.breaker.sane: unknown field; did you mean same?"]));
    expect(faults.some((fault) => fault.startsWith("budget.iterations: "))).toBe(true);
  });

  test("a wrong method comes with those that are right", async () => {
    const { ask } = await asking();
    expect((await ask("PUT", "/v1/sessions")).headers["allow"]).toBe("GET, HEAD, POST");
    expect((await ask("GET", "/v1/sessions/a/cancel")).headers["allow"]).toBe("POST");
  });

  test("a failure that nobody foresaw tells nothing of the inside", async () => {
    const place = opened(memoryPlace());
    const engine = await place.join();
    const broken = { ...engine, ledger: { ...engine.ledger, readSession: () => Promise.reject(new Error("secret detail")) } };
    const { get, post } = await asking({ engine: broken });
    await post("/v1/sessions", { id: "a", ...goal });
    const answer = await get("/v1/sessions/a/explain");
    isProblem(answer, 500, "internal");
    expect(answer.text).not.toContain("secret");
  });

  test("who asks too often is told when to come back", async () => {
    const { get } = await asking({ rateLimit: { perSecond: 0.1, burst: 2 } });
    expect([(await get("/healthz")).status, (await get("/healthz")).status]).toEqual([200, 200]);
    const refused = await get("/healthz");
    isProblem(refused, 429, "too_many_requests");
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
  });

  test("every code has a status and a next step", () => {
    for (const code of problemCodes) expect([problemEntry(code).status >= 400, problemEntry(code).next.length > 10]).toEqual([true, true]);
  });
});

describe("a web page cannot drive it", () => {
  test.each<[string, Record<string, string>, number]>([
    ["its own name", { host: "127.0.0.1:7420" }, 200], ["localhost", { host: "localhost:7420" }, 200], ["the other loopback", { host: "[::1]:7420" }, 200],
    ["a name that points here", { host: "evil.example:7420" }, 403], ["a name that begins like ours", { host: "localhost.evil.example" }, 403],
    ["an address of the network", { host: "192.168.0.7:7420" }, 403],
    ["its own pages", { host: "localhost:7420", origin: "http://localhost:7420" }, 200],
    ["a page of another origin", { host: "localhost:7420", origin: "https://evil.example" }, 403],
    ["a page of another port of this machine", { host: "localhost:7420", origin: "http://localhost:3000" }, 403],
    ["a page without an origin", { host: "localhost:7420", origin: "null" }, 403],
    ["a picture in a page elsewhere", { host: "localhost:7420", "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" }, 403],
    ["a link in a page elsewhere", { host: "localhost:7420", "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" }, 200],
  ])("asked under %s", async (_what, headers, status) => {
    const { get } = await asking();
    const answer = await get("/v1/sessions", { headers });
    expect(answer.status).toBe(status);
    if (status !== 200) expect(answer.json).toMatchObject({ code: headers["host"]?.startsWith("localhost:") ? "forbidden_origin" : "forbidden_host" });
  });

  test("the check stands before every route, also over a real socket", async () => {
    const gateway = await listening(await opened(memoryPlace()).join());
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const asked = request(`${gateway.url}/v1/stream`, { headers: { host: "evil.example" } }, (response) => {
        resolve(response.statusCode);
        response.destroy();
      });
      asked.on("error", reject).end();
    });
    expect(status).toBe(403);
  });
});

describe("listening", () => {
  test.each(["0.0.0.0", "::", "192.168.0.7", "example.org"])("on %s is refused", async (host) => {
    const engine = await opened(memoryPlace()).join();
    await expect(startGateway(engine, { port: 0, host })).rejects.toMatchObject({ code: "address_refused" });
  });

  test("on a port that is taken is refused with its name", async () => {
    const place = opened(memoryPlace());
    const first = await listening(await place.join());
    await expect(startGateway(await place.join(), { port: first.port })).rejects.toMatchObject({ code: "address_in_use", message: expect.stringContaining(String(first.port)) });
  });

  test("folds that follow only some sessions are no ground for a gateway", async () => {
    const engine = await opened(memoryPlace()).join();
    Object.defineProperty(engine.folds, "complete", { value: false });
    await expect(startGateway(engine, { port: 0 })).rejects.toThrow(/every session/);
  });
});
