import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../support/until.ts";
import { type Stage, stage } from "./stage.ts";
import { greenFrom } from "./works.ts";

const deployed: { args: unknown; key: string }[] = [];
let here: Stage;
beforeAll(async () => {
  here = await stage(greenFrom(1, (task) => task.tool("deploy", { to: "production", amount: 820 }), {
    deploy: {
      contract: "idempotent", approval: "before",
      fn: (args: unknown, call: { key: string }) => {
        deployed.push({ args, key: call.key });
        return { ok: true };
      },
    },
  }));
});
afterAll(() => here.close());

interface Waiting { readonly sessionId: string; readonly checkpoint: string; readonly digest: string }
/** Submits and runs up to the request. */
async function atRequest(id: string, policy: object = {}): Promise<Waiting> {
  await here.submit(id, { policy: { failureFirst: false, ...policy } });
  await here.carry(id);
  const rows = (await here.cli("approvals", "--json")).rows() as never as Waiting[];
  const found = rows.find((row) => row.sessionId === id);
  if (!found) throw new Error(`${id} asks for nothing: ${JSON.stringify(rows)}`);
  return found;
}
const deployments = () => deployed.splice(0);

test("what was shown is what is approved and done, once", async () => {
  const { checkpoint, digest } = await atRequest("a");
  const shown = await here.cli("approvals", "show", "a", checkpoint, "--json");
  expect(shown.json()).toMatchObject({ trigger: "before", action: { tool: "deploy", args: { to: "production", amount: 820 } }, digest, standing: "pending" });
  const markdown = (await here.cli("approvals", "show", "a", checkpoint, "--format", "markdown")).out;
  for (const part of [checkpoint, digest, "Triggered by", "Proposed action", '"amount":820', "Iteration", "Failures", "Plan", "Evidence"]) expect(markdown).toContain(part);
  expect(deployments()).toEqual([]);
  expect((await here.cli("approve", "a", checkpoint)).code).toBe(0);
  expect((await here.carry("a")).end?.disposition).toBe("done");
  expect(deployments()).toMatchObject([{ args: { to: "production", amount: 820 } }]);
  const decided = (await here.cli("events", "a", "--json")).rows().find((row) => row["type"] === "approval_decided");
  expect(decided).toMatchObject({ actor: { kind: "human", id: "bob" }, data: { decision: "APPROVE", digest } });
});

test("an equal answer again returns the first; a contradicting one is refused and kept", async () => {
  const { checkpoint } = await atRequest("e");
  expect((await here.cli("approve", "e", checkpoint, "--json")).json()).toMatchObject({ seq: expect.any(Number) });
  expect((await here.cli("approve", "e", checkpoint, "--json")).json()).toMatchObject({ seq: null, act: "approval_decided" });
  const refused = await here.cli("reject", "e", checkpoint, "--json");
  expect(refused).toMatchObject({ code: 1, out: "" });
  expect(JSON.parse(refused.err)).toMatchObject({ error: { code: "key_conflict", message: expect.stringContaining("decided before: APPROVE") } });
  const kept = (await here.cli("events", "e", "--json", "--void")).rows().filter((row) => row["void"] !== undefined);
  expect(kept.map((row) => [row["type"], row["void"]])).toEqual([["approval_decided", "duplicate"], ["approval_decided", "key_conflict"]]);
});

test("an equal answer again returns the first one also where it has ended the session; a contradicting one is refused", async () => {
  const { checkpoint } = await atRequest("ended");
  expect((await here.cli("reject", "ended", checkpoint, "--json")).json()).toMatchObject({ disposition: "handed_off" });
  expect(await here.cli("reject", "ended", checkpoint, "--json")).toMatchObject({ code: 0, out: expect.stringContaining('"seq": null') });
  expect(await here.cli("approve", "ended", checkpoint, "--json")).toMatchObject({ code: 1, err: expect.stringContaining('"after_end"') });
  expect(deployments()).toEqual([]);
});

test("an answer after the expiry is refused and kept, also where nobody serves; the action is not done", async () => {
  await here.submit("x", { policy: { failureFirst: false, approvals: [{ before: "deploy", expiresSeconds: 3 }] } });
  const [checkpoint = ""] = (await here.carry("x")).pending;
  const expiry = (await here.state("x")).timers[0]?.dueAt ?? 0;
  await until(() => here.engine.clock.now() > expiry, { what: "the expiry" });
  expect((await here.cli("approvals", "--json")).rows().filter((row) => row["sessionId"] === ("x" as never))).toEqual([]);
  expect((await here.cli("approvals", "show", "x", checkpoint, "--json")).json()).toMatchObject({ standing: "expired" });
  expect(await here.cli("approve", "x", checkpoint)).toMatchObject({ code: 1, out: "", err: expect.stringContaining("expired before this answer") });
  expect((await here.cli("status", "x", "--json", "--exit-code"))).toMatchObject({ code: 5 });
  expect((await here.carry("x")).end).toMatchObject({ disposition: "handed_off", reason: "approval_expired" });
  expect(deployments().filter((one) => one.key.includes("x"))).toEqual([]);
});

test("a rejection is final, and nothing waits any more", async () => {
  const { checkpoint } = await atRequest("r");
  expect((await here.cli("reject", "r", checkpoint, "--comment", "the wrong region", "--json")).json()).toMatchObject({ disposition: "handed_off", reason: "approval_rejected" });
  expect((await here.cli("explain", "r")).out).toContain("bob gave as the reason: the wrong region");
  expect(await here.cli("approve", "r", checkpoint)).toMatchObject({ code: 1, err: expect.stringContaining("after_end") });
  expect(await here.cli("resume", "r")).toMatchObject({ code: 1 });
  expect((await here.cli("approvals", "--json")).rows().map((row) => row["sessionId"])).not.toContain("r");
});

test("modify lets exactly the changed action through", async () => {
  deployments();
  const { checkpoint } = await atRequest("m");
  expect((await here.cli("modify", "m", checkpoint)).code).toBe(2);
  expect(await here.cli("modify", "m", checkpoint, "--action", '{"to": "staging"}')).toMatchObject({ code: 2, err: expect.stringContaining("tool call") });
  expect((await here.cli("modify", "m", checkpoint, "--action", '{"tool": "deploy", "args": {"to": "staging", "amount": 1}}')).code).toBe(0);
  await here.carry("m");
  expect(deployments()).toMatchObject([{ args: { to: "staging", amount: 1 } }]);
});

test("pause with a checkpoint decides nothing", async () => {
  const { checkpoint } = await atRequest("w");
  expect((await here.cli("pause", "w", checkpoint, "--comment", "asking", "--json")).json()).toMatchObject({ disposition: "waiting", reason: "approval" });
  expect((await here.cli("approve", "w", checkpoint)).code).toBe(0);
});

test("inside a maker or check nobody decides, reconciles or accepts a check", async () => {
  const { checkpoint } = await atRequest("s");
  const { seq } = await here.state("s");
  const inside = { LOOPLEDGER_STEP_TOKEN: "token" };
  for (const words of [["approve", "s", checkpoint], ["pause", "s", checkpoint], ["reconcile", "s", "k", "--happened"], ["resume", "s", "--accept-check"]]) {
    expect(await here.start(words, inside).ended).toMatchObject({ code: 1, out: "", err: expect.stringContaining("LOOPLEDGER_STEP_TOKEN") });
  }
  expect((await here.state("s")).seq).toBe(seq);
});

test("four eyes: the submitter may not decide", async () => {
  await here.submit("f", { policy: { failureFirst: false, fourEyes: true } });
  await here.carry("f");
  const [checkpoint = ""] = (await here.state("f")).pending;
  expect(await here.start(["approve", "f", checkpoint], { USER: "ann" }).ended).toMatchObject({ code: 1, err: expect.stringContaining("four eyes") });
  expect((await here.start(["approve", "f", checkpoint], { USER: "bob" }).ended).code).toBe(0);
});

test("a checkpoint that is not there is bad input, and those that are there are named", async () => {
  const { checkpoint } = await atRequest("n");
  expect(await here.cli("approve", "n", "cp-none")).toMatchObject({ code: 2, err: expect.stringContaining(checkpoint) });
  expect((await here.cli("approvals", "show", "n", "cp-none")).code).toBe(2);
  expect(await here.cli("approve", "n", checkpoint, "--digest", `sha256:${"0".repeat(64)}`)).toMatchObject({ code: 1, err: expect.stringContaining("not what was shown") });
});
