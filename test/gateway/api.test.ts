import { describe, expect, test } from "vitest";
import type { SessionId } from "@loopledger/shared/core/brand";
import { canonicalJson } from "@loopledger/shared/core/json";
import { statusOf } from "@loopledger/shared/core/session/status";
import { Carrier, type Crew, type CycleRunner, Liveness, Offers, appendAct } from "@loopledger/shared/runtime";
import { dataDefaults, randomOf } from "@loopledger/shared/testing";
import { until } from "../support/until.ts";
import { Walker, carryToEnd, checked, memoryPlace, person, sqlitePlace } from "../support/walks.ts";
import { answers } from "../../services/gateway/src/schemas.ts";
import { asking, opened } from "./serving.ts";

const goal = { goal: "Make the login test pass", maker: "agent", check: "tests" };
const places = [["memory", () => memoryPlace()], ["SQLite", () => sqlitePlace()]] as const;

describe.each(places)("submitting on %s", (_name, makePlace) => {
  test("a goal is a new session once; its equal is the same one, another goal under its id a conflict", async () => {
    const { post, engine } = await asking({ place: opened(makePlace()) });
    const made = await post("/v1/sessions", { id: "fix-login", ...goal });
    expect([made.status, made.headers["location"]]).toEqual([201, "/v1/sessions/fix-login"]);
    expect(made.json).toMatchObject({ sessionId: "fix-login", disposition: "running", asOf: 2 });
    const before = await engine.ledger.end();
    const again = await post("/v1/sessions", { check: "tests", maker: "agent", goal: "Make the login test pass", id: "fix-login" });
    expect([again.status, again.text]).toEqual([200, made.text]);
    expect(await engine.ledger.end()).toEqual(before);
    const other = await post("/v1/sessions", { id: "fix-login", ...goal, check: "others" });
    expect(other.status).toBe(409);
    expect(other.json).toMatchObject({ code: "session_conflict" });
  });

  test("without an id every goal is a session of its own, unless it comes under the same Idempotency-Key", async () => {
    const { post } = await asking({ place: opened(makePlace()) });
    const idOf = ({ json }: { json: unknown }): string => (json as { sessionId: string }).sessionId;
    const [one, two] = [await post("/v1/sessions", goal), await post("/v1/sessions", goal)];
    expect([one.status, two.status]).toEqual([201, 201]);
    expect(idOf(one)).not.toBe(idOf(two));
    const key = { "idempotency-key": "order 4711" };
    const [keyed, repeated] = [await post("/v1/sessions", goal, key), await post("/v1/sessions", goal, key)];
    expect([keyed.status, repeated.status, idOf(repeated)]).toEqual([201, 200, idOf(keyed)]);
    const misused = await post("/v1/sessions", { ...goal, goal: "Something else" }, key);
    expect([misused.status, misused.json]).toMatchObject([409, { code: "idempotency_conflict" }]);
  });

  test("many equal goals at once are one session", async () => {
    const { post } = await asking({ place: opened(makePlace()) });
    const statuses = (await Promise.all(Array.from({ length: 20 }, () => post("/v1/sessions", { id: "one", ...goal })))).map((answer) => answer.status);
    expect(statuses.filter((status) => status === 201).length).toBe(1);
    expect(statuses.filter((status) => status === 200).length).toBe(19);
  });
});

describe("submitting", () => {
  test("YAML is taken as JSON is", async () => {
    const { post } = await asking();
    const made = await post("/v1/sessions", "id: from-yaml\ngoal: Make it pass\nmaker: agent\ncheck: tests\nlabels: { team: web }\n", { "content-type": "application/yaml" });
    expect([made.status, made.json]).toMatchObject([201, { sessionId: "from-yaml", labels: { team: "web" } }]);
  });

  test("a session that was submitted goes on at once in the process that carries it", async () => {
    const { post, get, engine } = await asking();
    const runners: CycleRunner[] = [
      runnerOf("build", (tenure) => tenure.append([{ type: "built", data: { ...dataDefaults.built() }, actor: { kind: "maker", id: "agent@sha256:1" } }], { follow: true })),
      runnerOf("review", (tenure) => tenure.append([checked(tenure.state, true)], { follow: true })),
    ];
    const liveness = new Liveness(engine, () => 60_000);
    const crew: Crew = { runners, scheduler: null, liveness };
    const offers = new Offers(engine, crew, { carrier: new Carrier(engine, crew), settings: { sessionsMax: 8 } });
    await liveness.start();
    offers.start();
    expect((await post("/v1/sessions", { id: "at-once", ...goal })).status).toBe(201);
    await until(async () => ((await get("/v1/sessions/at-once")).json as { disposition: string }).disposition === "done", { what: "the session to be done" });
    await offers.stop();
    await liveness.stop();
  });
});

function runnerOf(cycle: "build" | "review", run: CycleRunner["run"]): CycleRunner {
  const nothing = (): Promise<void> => Promise.resolve();
  return { cycle, role: cycle === "build" ? "worker" : "checker", run, settle: nothing, perform: nothing };
}

describe("reading", () => {
  test("a status is the canonical one of the fold, and fits its description", async () => {
    const { get, engine } = await asking();
    const walker = new Walker(engine, randomOf(6));
    for (let step = 0; step < 60; step++) await walker.step("walked" as SessionId);
    const { text, json } = await get("/v1/sessions/walked");
    expect(text).toBe(canonicalJson(statusOf(await engine.folds.open("walked" as SessionId))));
    expect(answers.status.strict().parse(json)).toEqual(json);
  });

  test("atLeast waits for a seq that comes, and is refused for one that does not", async () => {
    const { post, get, engine } = await asking({ waitMs: 10_000 });
    await post("/v1/sessions", { id: "a", ...goal });
    const waiting = get("/v1/sessions/a?atLeast=3");
    await appendAct(engine, "a" as SessionId, { type: "guidance", data: { text: "hint" }, actor: person });
    expect((await waiting).json).toMatchObject({ asOf: 3 });
    const hasty = await asking({ waitMs: 1, engine });
    const refused = await hasty.get("/v1/sessions/a?atLeast=4");
    expect([refused.status, refused.json]).toMatchObject([409, { code: "seq_ahead", detail: expect.stringContaining("seq 3") }]);
  });

  test("events come in pages whose next is the last seq, with the refused ones on request", async () => {
    const { post, get, engine } = await asking();
    await post("/v1/sessions", { id: "a", ...goal });
    await engine.ledger.append("a" as SessionId, ["this is no record", JSON.stringify({ v: 1 })]);
    for (let i = 0; i < 4; i++) await appendAct(engine, "a" as SessionId, { type: "guidance", data: { text: `hint ${i}` }, actor: person });
    const pages: number[][] = [];
    for (let next: string | null = "0"; next !== null; ) {
      const page = (await get(`/v1/sessions/a/events?after=${next}&limit=2`)).json as { items: { seq: number }[]; next: string | null };
      expect(answers.events.parse(page)).toEqual(page);
      pages.push(page.items.map((item) => item.seq));
      next = page.next;
    }
    expect(pages).toEqual([[1, 2], [3, 4], [5, 6]]);
    const all: { seq?: number; void?: string }[] = [];
    for (let next: string | null = "0"; next !== null; ) {
      const page = (await get(`/v1/sessions/a/events?after=${next}&limit=2&void=true`)).json as { items: typeof all; next: string | null };
      all.push(...page.items);
      next = page.next;
    }
    expect(all.map((item) => item.seq ?? item.void)).toEqual([1, 2, "malformed", "malformed", 3, 4, 5, 6]);
  });

  test("the six answers rest on seqs, now and at an earlier one", async () => {
    const { get, engine } = await asking();
    await new Walker(engine, randomOf(1)).step("a" as SessionId);
    const { seq } = await carryToEnd(engine, "a" as SessionId);
    expect((await get("/v1/sessions/a/explain")).json).toMatchObject({ asOf: seq, disposition: "done", answers: { goal: { seq: 1 } } });
    expect((await get("/v1/sessions/a/explain?at=2")).json).toMatchObject({ asOf: 2, disposition: "running" });
    expect((await get(`/v1/sessions/a/explain?at=${seq + 1}`)).json).toMatchObject({ code: "seq_ahead" });
  });

  test("a payload is served as bytes, a missing one is said to be missing", async () => {
    const { post, get, engine } = await asking();
    await post("/v1/sessions", { id: "a", ...goal });
    const digest = await engine.blobs.put("a" as SessionId, new TextEncoder().encode("printed"));
    expect(await get(`/v1/sessions/a/blobs/${digest}`)).toMatchObject({ status: 200, text: "printed" });
    expect(await get(`/v1/sessions/a/blobs/sha256:${"0".repeat(64)}`)).toMatchObject({ status: 404, json: { code: "unknown_blob" } });
  });

  test("asking for names that were never used leaves nothing in memory", async () => {
    const { get, engine } = await asking();
    const before = engine.folds.ids();
    for (let i = 0; i < 20; i++) expect((await get(`/v1/sessions/nobody-${i}`)).json).toMatchObject({ code: "unknown_session" });
    expect(engine.folds.ids()).toEqual(before);
  });

  test("health, readiness, figures and description are there", async () => {
    let faults: string[] = [];
    const { get, post, engine } = await asking({ unready: async () => faults, figures: async () => "loopledger_sessions_carried 7\n" });
    await post("/v1/sessions", { id: "a", ...goal });
    await engine.ledger.append("a" as SessionId, ["rubbish"]);
    await engine.folds.caughtUp();
    expect((await get("/healthz")).json).toEqual({ status: "ok" });
    expect(await get("/readyz")).toMatchObject({ status: 200, json: { status: "ready", faults: [] } });
    faults = ["projector"];
    expect(await get("/readyz")).toMatchObject({ status: 503, json: { status: "unready", faults: ["projector"] } });
    const { text } = await get("/metrics");
    for (const line of ['loopledger_sessions{disposition="running"} 1', "loopledger_sessions_carried 7"]) {
      expect(text.split("\n")).toContain(line);
    }
  });
});

describe("the description of the API", () => {
  interface Operation { readonly responses: Record<string, object>; readonly requestBody?: object }
  test("names every route, resolves every reference and needs nothing outside", async () => {
    const { get } = await asking();
    const { json, text } = await get("/openapi.json");
    const { openapi, paths, components } = json as { openapi: string; paths: Record<string, Record<string, Operation>>; components: { schemas: Record<string, object> } };
    expect(openapi).toMatch(/^3\.1\./);
    expect(Object.keys(paths)).toEqual(expect.arrayContaining([
      "/v1/sessions", "/v1/sessions/{id}", "/v1/sessions/{id}/events", "/v1/sessions/{id}/stream", "/v1/stream", "/v1/sessions/{id}/decisions/{checkpoint}",
      "/v1/sessions/{id}/reconciliations", "/v1/sessions/{id}/cancel", "/v1/approvals", "/healthz", "/readyz", "/metrics",
    ]));
    for (const [, reference] of text.matchAll(/"\$ref":"([^"]+)"/g)) {
      const [, name] = /^#\/components\/schemas\/(\w+)$/.exec(reference as string) ?? [];
      expect(components.schemas[name ?? ""], reference).toBeDefined();
    }
    expect(Object.keys(paths["/v1/sessions"]?.["post"]?.responses ?? {})).toEqual(expect.arrayContaining(["200", "201", "400", "409", "413", "415"]));
  });
});
