import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../support/until.ts";
import { type Stage, stage } from "./stage.ts";
import { greenFrom } from "./works.ts";

let here: Stage;
beforeAll(async () => {
  here = await stage(greenFrom(2));
  await here.submit("done-1", { labels: { team: "web" } });
  await here.carry("done-1");
  await here.submit("half-1");
  await here.carry("half-1", 2);
});
afterAll(() => here.close());

test("status is one document with the fold's answer, and with --exit-code its code", async () => {
  const done = await here.cli("status", "done-1", "--json", "--exit-code");
  expect(done.code).toBe(0);
  expect(done.json()).toMatchObject({ sessionId: "done-1", disposition: "done", reason: null, iteration: 2, receipt: { check: { name: "check" }, revision: "r2" } });
  const half = await here.cli("status", "half-1", "--json", "--exit-code");
  expect(half.code).toBe(8);
  expect(half.json()).toMatchObject({ disposition: "running", asOf: (await here.state("half-1")).seq, verdict: { verdict: "FAIL", next_steps: ["mend 2"] } });
  expect(half.out.split("\n")[1]).toBe('  "sessionId": "half-1",');
});

test("a session that is not there is bad input, and the nearest one is named", async () => {
  const ran = await here.cli("status", "doen-1", "--json");
  expect(ran).toMatchObject({ code: 2, out: "" });
  expect(JSON.parse(ran.err)).toMatchObject({ error: { code: "unknown_session", message: expect.stringContaining("Did you mean done-1") } });
});

test("--at-least waits for a record that comes, and fails with 8 for one that does not", async () => {
  const { seq } = await here.state("half-1");
  const ahead = await here.cli("status", "half-1", "--at-least", String(seq + 5));
  expect(ahead).toMatchObject({ code: 8, out: "", err: expect.stringContaining(`it is at ${seq}`) });
  const waiting = here.start(["status", "half-1", "--at-least", String(seq + 1), "--json"]);
  await here.act("half-1", { type: "guidance", data: { text: "look again" }, actor: { kind: "human", id: "ann" } });
  expect((await waiting.ended).json()).toMatchObject({ asOf: seq + 1 });
});

test("ls lists without a projector, newest first, by disposition and page by page", async () => {
  const all = (await here.cli("ls", "--json")).rows();
  expect(all.map((row) => row["sessionId"])).toEqual(["half-1", "done-1"]);
  const first = (await here.cli("ls", "--json", "--limit", "1")).rows();
  const second = (await here.cli("ls", "--json", "--limit", "1", "--cursor", String(first[0]?.["cursor"]))).rows();
  expect([...first, ...second].map((row) => row["sessionId"])).toEqual(["half-1", "done-1"]);
  expect((await here.cli("ls", "--json", "--disposition", "done")).rows().map((row) => row["sessionId"])).toEqual(["done-1"]);
  expect((await here.cli("ls", "--json", "--label", "team=web")).rows().map((row) => row["sessionId"])).toEqual(["done-1"]);
  expect(await here.cli("ls", "--json", "--disposition", "cancelled")).toMatchObject({ code: 0, out: "" });
  expect((await here.cli("ls", "--disposition", "over")).code).toBe(2);
  for (const [label, typed] of [["team", "team=VALUE"], ["two words", "'two words=VALUE'"], ["=web", "NAME=VALUE"]] as const) {
    expect(await here.cli("ls", "--label", label)).toMatchObject({ code: 2, out: "", err: expect.stringContaining(`ls --label ${typed}`) });
  }
  expect((await here.cli("ls", "--json", "--label", "team=")).rows()).toEqual([]);
});

test("explain answers with the seq that each answer rests on, also of an earlier moment", async () => {
  const now = (await here.cli("explain", "half-1", "--json")).json() as never as { answers: Record<string, { answer: unknown; seq: number }>; why: string; next: string };
  expect(Object.keys(now.answers)).toEqual(["goal", "steps", "effects", "evidence", "budget", "active"]);
  expect(now.answers["evidence"]).toMatchObject({ answer: { verdict: "FAIL" }, seq: 6 });
  expect(now).toMatchObject({ why: expect.stringContaining("Nobody has claimed it"), next: "loopledger advance half-1" });
  const then = (await here.cli("explain", "half-1", "--at", "4", "--json")).json();
  expect(then).toMatchObject({ asOf: 4, answers: { evidence: { answer: null }, budget: { answer: { iterations: { remaining: 19 } } } } });
  expect((await here.cli("explain", "half-1", "--at", "4000")).code).toBe(8);
  expect((await here.cli("explain", "half-1")).out).toContain("Which effects are confirmed?");
});

test("events are the envelopes with their seq; refused records are shown on request, with the reason", async () => {
  const written = here.engine.author.write("done-1" as never, { type: "guidance", data: { text: "too late" }, actor: { kind: "human", id: "ann" } });
  await here.engine.ledger.append("done-1" as never, [written.text]);
  const rows = (await here.cli("events", "done-1", "--json")).rows();
  const { seq } = await here.state("done-1");
  expect(rows.map((row) => row["seq"])).toEqual(Array.from({ length: seq }, (_, index) => index + 1));
  expect(rows[1]).toMatchObject({ type: "dispatched", sessionId: "done-1", cursor: 2, cause: { eventId: rows[0]?.["eventId"], seq: 1 }, data: { cycle: "build", iteration: 1 } });
  const after = (await here.cli("events", "done-1", "--json", "--after", String(seq - 1), "--void")).rows();
  expect(after.map((row) => [row["type"], row["seq"], row["void"]])).toEqual([["status", seq, undefined], ["guidance", undefined, "after_end"]]);
});

test("events --follow shows what is there and what comes, and leaves in order when it is told to", async () => {
  const following = here.start(["events", "half-1", "--follow", "--json"]);
  const { seq } = await here.state("half-1");
  await until(() => following.out().trimEnd().split("\n").length >= seq, { what: "the history" });
  await here.act("half-1", { type: "guidance", data: { text: "and again" }, actor: { kind: "human", id: "ann" } });
  await until(() => following.out().includes("and again"), { what: "the new record" });
  following.process.kill("SIGINT");
  const ran = await following.ended;
  expect(ran.code).toBe(0);
  expect(ran.rows().map((row) => row["seq"])).toEqual(Array.from({ length: seq + 1 }, (_, index) => index + 1));
});

test("wait leaves with the code of the rest that the session comes to, and with 8 when its time is over", async () => {
  await here.submit("later-1");
  expect(await here.cli("wait", "later-1", "--timeout", "0.1", "--json")).toMatchObject({ code: 8 });
  const waiting = here.start(["wait", "later-1", "--json"]);
  await here.carry("later-1");
  const ran = await waiting.ended;
  expect(ran.code).toBe(0);
  expect(ran.json()).toMatchObject({ disposition: "done" });
});

test("submit prints the id; the same goal again is the same session, another one under that id is refused", async () => {
  here.write("goal.yaml", "goal: Make it so\nmaker: maker\ncheck: check\n");
  here.write("other.yaml", "goal: Make it otherwise\nmaker: maker\ncheck: check\n");
  const first = await here.cli("submit", "goal.yaml");
  expect(first).toMatchObject({ code: 0, err: expect.stringMatching(/^ {2}note: there is no loopledger\.config\.\* in this folder\.\n.*no maker maker here.*\n.*no check check here.*\n$/) });
  const again = await here.cli("submit", "goal.yaml", "--json");
  expect(again.json()).toMatchObject({ sessionId: first.out.trim(), created: false, disposition: "running" });
  expect(await here.cli("submit", "other.yaml", "--id", first.out.trim())).toMatchObject({ code: 2, out: "", err: expect.stringContaining("another goal") });
  expect((await here.cli("submit", "goal.yaml", "--id", "not an id")).code).toBe(2);
});

test("a folder without a ledger reads as empty and stays as it is", async () => {
  const listed = await here.start(["ls", "--json"], { LOOPLEDGER_DATA: `${here.folder}/nowhere` }).ended;
  expect(listed).toMatchObject({ code: 0, out: "" });
  expect((await here.start(["cancel", "x"], { LOOPLEDGER_DATA: `${here.folder}/nowhere` }).ended).code).toBe(2);
  expect((await here.start(["ls"], { LOOPLEDGER_DATA: `${here.folder}/nowhere` }).ended).err).toContain("no sessions");
});
