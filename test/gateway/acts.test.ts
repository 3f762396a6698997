import { describe, expect, test } from "vitest";
import type { SessionId } from "@loopledger/shared/core/brand";
import { lookUp } from "@loopledger/shared/core/session/persistent-map";
import { createVirtualClock } from "@loopledger/shared/memory";
import type { Tool } from "@loopledger/shared/ports";
import { type Engine, Tenure, appendAct, submitGoal } from "@loopledger/shared/runtime";
import { dataDefaults, goalOf } from "@loopledger/shared/testing";
import { memoryPlace, noHandlers, person } from "../support/walks.ts";
import { type Asking, asking, opened } from "./serving.ts";

const id = "acted-on" as SessionId;
type Status = { asOf: number; disposition: string; reason: string | null; void: Record<string, number>; waitingOn: { kind: string; id: string }[]; budget: { iterations: { limit: number } } };

async function begun(options: Parameters<typeof asking>[0] & { readonly goal?: Parameters<typeof goalOf>[0] } = {}): Promise<Asking & { act(path: string, body?: unknown, headers?: Record<string, string>): ReturnType<Asking["post"]> }> {
  const { goal, ...given } = options;
  const gateway = await asking(given);
  await submitGoal(gateway.engine, goalOf({ policy: { failureFirst: false }, ...goal }), { actor: person, id });
  return { ...gateway, act: (path, body, headers) => gateway.post(`/v1/sessions/${id}/${path}`, body, headers) };
}
/** Leaves one effect without an outcome in an epoch that has passed. */
async function leaveUnknown(engine: Engine, over: Record<string, unknown> = {}): Promise<void> {
  const both = { role: "worker", serves: ["build", "review"] } as const;
  const tenure = await Tenure.claim(engine, id, both);
  const open = tenure?.state.open;
  const data = { ...dataDefaults.tool_requested(), dispatch: open?.eventId as never, fences: false, callWindowSeconds: 60, ...over };
  await tenure?.append([{ type: "tool_requested", data, actor: { kind: "maker", id: "agent@sha256:1" } }]);
  await Tenure.claim(engine, id, both);
}

describe("acts", () => {
  test("cancel, pause, resume, guidance, budget and checkpoints answer with the status after them", async () => {
    const { act, engine } = await begun();
    const paused = await act("pause", { reason: "lunch" });
    expect([paused.status, paused.json]).toMatchObject([200, { disposition: "waiting", reason: "paused" }]);
    expect((await act("resume")).json).toMatchObject({ disposition: "running" });
    expect((await act("guidance", { text: "look at the parser" })).status).toBe(200);
    expect((await engine.folds.open(id)).guidance).toEqual(["look at the parser"]);
    expect((await act("budget", { iterations: 5 })).json).toMatchObject({ budget: { iterations: { limit: 25 } } });
    const asked = (await act("checkpoints", { reason: "let me look" })).json as Status;
    expect(asked).toMatchObject({ disposition: "waiting", reason: "approval" });
    expect((await act("cancel")).json).toMatchObject({ disposition: "cancelled", reason: "cancelled" });
    expect((await act("cancel")).status).toBe(200);
  });

  test("a repeat under the same Idempotency-Key does it once; another request under it is refused", async () => {
    const { act } = await begun();
    const key = { "idempotency-key": "raise-1" };
    expect((await act("budget", { iterations: 5 }, key)).json).toMatchObject({ budget: { iterations: { limit: 25 } } });
    const again = await act("budget", { iterations: 5 }, key);
    expect([again.status, again.json]).toMatchObject([200, { budget: { iterations: { limit: 25 } } }]);
    const other = await act("budget", { iterations: 6 }, key);
    expect([other.status, other.json]).toMatchObject([409, { code: "idempotency_conflict" }]);
    expect((await act("budget", { iterations: 5 })).json).toMatchObject({ budget: { iterations: { limit: 30 } } });
  });

  test("what the fold refuses is said with the reason, and changes nothing", async () => {
    const { act, engine } = await begun();
    expect(await act("resume")).toMatchObject({ status: 409, json: { code: "not_owed", detail: expect.stringContaining("nothing to resume") } });
    await act("cancel");
    const { seq } = await engine.folds.open(id);
    expect(await act("guidance", { text: "too late" })).toMatchObject({ status: 409, json: { code: "after_end" } });
    expect((await engine.folds.open(id)).seq).toBe(seq);
  });

  test("a session of a newer release is held: nothing is done to it", async () => {
    const { act, engine } = await begun();
    await engine.ledger.append(id, [JSON.stringify({ ...engine.author.write(id, { type: "guidance", data: { text: "x" }, actor: person }).record, type: "from_the_future" })]);
    await engine.folds.caughtUp();
    expect(await act("cancel")).toMatchObject({ status: 409, json: { code: "held" } });
  });
});

describe("decisions", () => {
  async function asked(options: Parameters<typeof begun>[0] = {}): Promise<Awaited<ReturnType<typeof begun>> & { readonly checkpoint: string }> {
    const session = await begun(options);
    const status = (await session.act("checkpoints", { reason: "let me look" })).json as Status;
    return { ...session, checkpoint: status.waitingOn.find((one) => one.kind === "approval")?.id as string };
  }

  test("what waits is listed with all that a person needs, until it is decided", async () => {
    const { get, act, checkpoint } = await asked();
    expect((await get("/v1/approvals")).json).toMatchObject({ items: [{ sessionId: id, checkpoint, standing: "pending", trigger: "external" }], next: null });
    expect((await get(`/v1/sessions/${id}/checkpoints/${checkpoint}`)).json).toMatchObject({ checkpoint, markdown: expect.stringContaining("# Review requested") });
    expect((await act(`decisions/${checkpoint}`, { decision: "APPROVE", comment: "fine" })).json).toMatchObject({ disposition: "running" });
    expect((await get("/v1/approvals")).json).toEqual({ items: [], next: null });
  });

  test("the first answer counts: an equal repeat is answered, a contradicting one is refused and kept", async () => {
    const { act, checkpoint, engine } = await asked();
    expect((await act(`decisions/${checkpoint}`, { decision: "APPROVE" })).status).toBe(200);
    expect((await act(`decisions/${checkpoint}`, { decision: "APPROVE" })).status).toBe(200);
    const refused = await act(`decisions/${checkpoint}`, { decision: "REJECT" });
    expect([refused.status, refused.json]).toMatchObject([409, { code: "key_conflict", detail: expect.stringContaining("APPROVE") }]);
    expect((await engine.folds.open(id)).void).toMatchObject({ key_conflict: 1 });
    expect((await engine.folds.open(id)).end).toBeNull();
  });

  test("PAUSE leaves it open for a later answer", async () => {
    const { act, checkpoint } = await asked();
    expect((await act(`decisions/${checkpoint}`, { decision: "PAUSE" })).json).toMatchObject({ disposition: "waiting", reason: "approval" });
    expect((await act(`decisions/${checkpoint}`, { decision: "REJECT" })).json).toMatchObject({ disposition: "handed_off", reason: "approval_rejected" });
  });

  test("an answer to something else than what is asked, to nothing, or without its action is refused", async () => {
    const { act, checkpoint } = await asked();
    const other = await act(`decisions/${checkpoint}`, { decision: "APPROVE", digest: `sha256:${"0".repeat(64)}` });
    expect([other.status, other.json]).toMatchObject([409, { code: "key_conflict" }]);
    expect(await act("decisions/cp-none", { decision: "APPROVE" })).toMatchObject({ status: 404, json: { code: "unknown_checkpoint", detail: expect.stringContaining(checkpoint) } });
    expect(await act(`decisions/${checkpoint}`, { decision: "MODIFY" })).toMatchObject({ status: 400, json: { code: "invalid_request" } });
    expect(await act(`decisions/${checkpoint}`, { decision: "YES" })).toMatchObject({ status: 400, json: { code: "invalid_request" } });
  });

  test("with four eyes who submitted may not decide", async () => {
    const { act, checkpoint } = await asked({ principal: person.id, goal: { policy: { failureFirst: false, fourEyes: true } } });
    expect(await act(`decisions/${checkpoint}`, { decision: "APPROVE" })).toMatchObject({ status: 403, json: { code: "forbidden" } });
  });
});

describe("reconciliations", () => {
  const key = "deploy:production";
  const settled = async (engine: Engine): Promise<unknown> => lookUp((await engine.folds.open(id)).effects, key)?.settled;

  test("that it happened is taken at once, and once", async () => {
    const { act, engine } = await begun();
    await leaveUnknown(engine);
    const asked = { key, outcome: "happened", evidence: "I saw it", result: { url: "x" } };
    expect((await act("reconciliations", asked)).status).toBe(200);
    expect(await settled(engine)).toBe("confirmed");
    expect((await act("reconciliations", asked)).status).toBe(200);
    expect(await act("reconciliations", { ...asked, outcome: "did_not_happen" })).toMatchObject({ status: 409, json: { code: "not_unknown" } });
  });

  test("that it did not happen waits for the call window, with Retry-After, and is taken then", async () => {
    const clock = createVirtualClock();
    const { act, engine } = await begun({ place: opened(memoryPlace(clock)) });
    await leaveUnknown(engine);
    const asked = { key, outcome: "did_not_happen", evidence: { looked: "at the console" } };
    await clock.advance(10_000);
    const early = await act("reconciliations", asked);
    expect([early.status, early.headers["retry-after"], early.json]).toMatchObject([409, "51", { code: "window_open" }]);
    expect(await settled(engine)).toBeNull();
    await clock.advance(51_000);
    expect((await act("reconciliations", asked)).status).toBe(200);
    expect(await settled(engine)).toBe("failed");
  });

  test.each([2 * 3_600_000, -2 * 3_600_000])("the call window counts by the log's time, also where this process's clock is wrong by %i ms", async (skewMs) => {
    const clock = createVirtualClock();
    const joined = await opened(memoryPlace(clock)).join();
    const wrong = { now: () => clock.now() + skewMs, monotonic: () => clock.monotonic(), after: (ms: number, call: () => void) => clock.after(ms, call) };
    const { act } = await begun({ engine: { ...joined, clock: wrong as never } });
    await leaveUnknown(joined);
    await clock.advance(10_000);
    const early = await act("reconciliations", { key, outcome: "did_not_happen", evidence: "looked" });
    expect([early.status, early.headers["retry-after"], early.json]).toMatchObject([409, "51", { code: "window_open" }]);
    await clock.advance(51_000);
    expect(await act("reconciliations", { key, outcome: "did_not_happen", evidence: "looked" })).toMatchObject({ status: 200 });
  });

  test("a target that fences is looked at first: its word stands, for and against", async () => {
    let status: "did_not_happen" | "happened" = "did_not_happen";
    const tool = { timeoutSeconds: 5, look: async () => ({ status, result: null, evidence: { seen: status } }) } as unknown as Tool;
    const { engine, ask } = await asking({ engine: await withTool(tool) });
    await submitGoal(engine, goalOf({ policy: { failureFirst: false } }), { actor: person, id });
    await leaveUnknown(engine, { fences: true });
    const said = { key, outcome: "did_not_happen", evidence: "nobody saw it" };
    status = "happened";
    expect(await ask("POST", `/v1/sessions/${id}/reconciliations`, { body: said })).toMatchObject({ status: 409, json: { code: "happened" } });
    status = "did_not_happen";
    expect((await ask("POST", `/v1/sessions/${id}/reconciliations`, { body: said })).status).toBe(200);
    expect(await settled(engine)).toBe("failed");
  });

  async function withTool(tool: Tool): Promise<Engine> {
    return { ...(await opened(memoryPlace()).join()), handlers: { ...noHandlers, tool: () => tool } };
  }

  test("an effect that is not there, or whose owner may still write its outcome, is not settled", async () => {
    const { act, engine } = await begun();
    expect(await act("reconciliations", { key, outcome: "happened", evidence: "x" })).toMatchObject({ status: 404, json: { code: "unknown_effect" } });
    const tenure = await Tenure.claim(engine, id, { role: "worker", serves: ["build"] });
    const data = { ...dataDefaults.tool_requested(), dispatch: tenure?.state.open?.eventId as never };
    await tenure?.append([{ type: "tool_requested", data, actor: { kind: "maker", id: "agent@sha256:1" } }]);
    expect(await act("reconciliations", { key, outcome: "happened", evidence: "x" })).toMatchObject({ status: 409, json: { code: "not_unknown" } });
    await appendAct(engine, id, { type: "guidance", data: { text: "still there" }, actor: person });
  });
});
