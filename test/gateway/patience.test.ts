import { expect, test } from "vitest";
import type { SessionId } from "@loopledger/shared/core/brand";
import { LoopledgerError } from "@loopledger/shared/core/errors";
import { digestOf } from "@loopledger/shared/core/json";
import { createVirtualClock } from "@loopledger/shared/memory";
import { Tenure, submitGoal } from "@loopledger/shared/runtime";
import { goalOf } from "@loopledger/shared/testing";
import { memoryPlace, person } from "../support/walks.ts";
import { asking, opened } from "./serving.ts";

const id = "patient" as SessionId;
const goal = { goal: "Make the login test pass", maker: "agent", check: "tests" };

/** A gateway of a process that carries sessions, on a ledger whose disk can be full. */
async function onFullDisk() {
  const clock = createVirtualClock();
  const engine = await opened(memoryPlace(clock)).join();
  const { append } = engine.ledger;
  const disk = { isFull: false, refused: 0 };
  engine.ledger.append = (sessionId, values) => {
    if (!disk.isFull) return append.call(engine.ledger, sessionId, values);
    disk.refused++;
    return Promise.reject(new LoopledgerError("ledger_full", "The ledger is on a full disk."));
  };
  await submitGoal(engine, goalOf(), { actor: person, id });
  return { clock, disk, ...(await asking({ engine })) };
}

test.each([["an act", `/v1/sessions/${id}/guidance`, { text: "look at the parser" }], ["a goal", "/v1/sessions", { id: "another", ...goal }]])(
  "on a full disk %s is tried for a while and then answered with 503 and what to do; the same request counts once there is room",
  async (_what, path, body) => {
    const { clock, disk, engine, post } = await onFullDisk();
    expect(engine.patienceMs).toBe(Number.POSITIVE_INFINITY);
    const before = (await engine.folds.open(id)).seq;
    const key = { "idempotency-key": "once" };
    disk.isFull = true;
    const asked = post(path, body, key);
    await clock.advance(60_000);
    const refused = await asked;
    expect(disk.refused).toBeGreaterThan(1);
    expect([refused.status, refused.json]).toMatchObject([503, { code: "ledger_full", next: expect.stringContaining("Free space") }]);
    expect(refused.headers["retry-after"]).toBeDefined();
    await clock.advance(60_000);
    const { refused: tries } = disk;
    await clock.advance(60_000);
    expect(disk.refused).toBe(tries);
    disk.isFull = false;
    expect([200, 201]).toContain((await post(path, body, key)).status);
    expect([200, 201]).toContain((await post(path, body, key)).status);
    expect((await engine.folds.open(id)).seq).toBe(path.includes(id) ? before + 1 : before);
  },
);

test("a decision that comes after its request expired is refused, although nobody had written the expiry", async () => {
  const clock = createVirtualClock();
  const { engine, post } = await asking({ place: opened(memoryPlace(clock)) });
  await submitGoal(engine, goalOf({ policy: { failureFirst: false } }), { actor: person, id });
  const tenure = await Tenure.claim(engine, id, { role: "worker", serves: ["build"] });
  const action = { tool: "deploy", args: {} };
  const data = { checkpoint: "cp-1", trigger: "before", action, digest: digestOf(action, engine.ids.sha256), expires: 10 } as const;
  await tenure?.append([{ type: "approval_requested", data, actor: { kind: "maker", id: "agent@sha256:1" } }]);
  await clock.advance(11_000);
  const late = await post(`/v1/sessions/${id}/decisions/cp-1`, { decision: "APPROVE" });
  expect([late.status, late.json]).toMatchObject([409, { detail: expect.stringContaining("expired before this answer") }]);
  expect((await engine.folds.open(id)).end).toMatchObject({ disposition: "handed_off", reason: "approval_expired" });
});
