import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../support/until.ts";
import { type Ran, type Stage, stage } from "./stage.ts";
import { greenFrom } from "./works.ts";

let here: Stage;
let url: string;
beforeAll(async () => {
  here = await stage(greenFrom(2));
  url = await here.serve();
  await here.submit("done-1");
  await here.carry("done-1");
  await here.submit("half-1");
  await here.carry("half-1", 2);
});
afterAll(() => here.close());

/** The same words on the folder and through the gateway. */
async function both(...words: string[]): Promise<readonly [Ran, Ran]> {
  return Promise.all([here.cli(...words), here.start([...words, "--url", url], { LOOPLEDGER_DATA: "/nowhere" }).ended]);
}
const remotely = (...words: string[]): Promise<Ran> => here.start(words, { LOOPLEDGER_URL: url, LOOPLEDGER_DATA: "/nowhere" }).ended;

test.each([
  ["status", "done-1", "--exit-code"], ["ls"], ["ls", "--disposition", "done"], ["explain", "half-1"], ["explain", "half-1", "--at", "4"], ["events", "done-1"],
  ["events", "done-1", "--after", "9"], ["wait", "done-1"], ["budget", "half-1"], ["approvals"], ["logs", "done-1"],
])("%s %s answers through a gateway as it does on the folder", async (...words) => {
  const [local, remote] = await both(...words, "--json");
  expect(remote.err).toBe(local.err);
  expect(remote.code).toBe(local.code);
  // A gateway's rows come without the seq of their cause, which the command fills in where it has the whole history.
  const bare = (row: { readonly cause?: { readonly eventId: string } }) => ({ ...row, ...(row.cause && { cause: { eventId: row.cause.eventId } }) });
  const parsed = (ran: Ran): unknown => (words[0] === "ls" || words[0] === "events" ? ran.rows().map(bare) : ran.out === "" ? null : ran.json());
  expect(parsed(remote)).toEqual(parsed(local));
});

test("what is not there is bad input on both ways", async () => {
  for (const ran of await both("status", "none", "--json")) {
    expect(ran).toMatchObject({ code: 2, out: "" });
    expect(JSON.parse(ran.err)).toMatchObject({ error: { code: "unknown_session" } });
  }
  expect((await remotely("status", "half-1", "--at-least", "900")).code).toBe(8);
  expect((await remotely("explain", "half-1", "--at", "900")).code).toBe(8);
});

test("goals, acts and decisions go through it", async () => {
  here.write("goal.yaml", "goal: Make it so\nmaker: maker\ncheck: check\npolicy: { failureFirst: false }\n");
  const first = await remotely("submit", "goal.yaml");
  expect(first).toMatchObject({ code: 0, err: "" });
  const id = first.out.trim();
  expect((await here.cli("submit", "goal.yaml", "--json")).json()).toMatchObject({ sessionId: id, created: false });
  expect((await remotely("guide", id, "look again", "--json")).json()).toMatchObject({ act: "guidance", disposition: "running" });
  expect((await remotely("pause", id, "--now", "--json")).json()).toMatchObject({ reason: "paused" });
  expect((await remotely("resume", id, "--json")).json()).toMatchObject({ disposition: "running" });
  expect((await remotely("budget", id, "--iterations", "+3", "--json")).json()).toMatchObject({ budget: { iterations: { limit: 23 } } });
  expect((await remotely("checkpoint", id, "--reason", "let me see", "--json")).json()).toMatchObject({ reason: "approval" });
  const [waiting] = (await remotely("approvals", "--json")).rows() as never as { checkpoint: string; sessionId: string }[];
  expect(waiting).toMatchObject({ sessionId: id });
  expect((await remotely("approvals", "show", id, waiting?.checkpoint ?? "", "--format", "markdown")).out).toContain("let me see");
  expect((await remotely("approve", id, waiting?.checkpoint ?? "", "--json")).json()).toMatchObject({ disposition: "running" });
  expect(await remotely("reject", id, waiting?.checkpoint ?? "")).toMatchObject({ code: 1, out: "", err: expect.stringContaining("decided before: APPROVE") });
  expect((await here.carry(id)).end?.disposition).toBe("done");
  expect(await remotely("cancel", id)).toMatchObject({ code: 1, err: expect.stringContaining("after_end") });
  here.write("other.yaml", "goal: Make it otherwise\nmaker: maker\ncheck: check\n");
  expect((await remotely("submit", "other.yaml", "--id", id)).code).toBe(2);
});

test("an unknown effect is settled through it", async () => {
  await here.submit("lost");
  await here.loseOutcome("lost", { contract: "unsafe", key: "mail:1", callWindowSeconds: 15 });
  // Both at once: the second one has to be there before the call window is over.
  const [wrong, ran] = await Promise.all([
    remotely("reconcile", "lost", "mail:none", "--happened"), remotely("reconcile", "lost", "mail:1", "--did-not-happen", "--evidence", "the outbox is empty", "--json"),
  ]);
  expect(wrong).toMatchObject({ code: 2 });
  expect(ran).toMatchObject({ code: 0, err: expect.stringContaining("This waits") });
  expect(ran.json()).toMatchObject({ act: "reconciled", effects: [{ key: "mail:1", state: "failed" }] });
});

test("wait and events --follow hear what comes", async () => {
  await here.submit("later");
  const waiting = here.start(["wait", "later", "--url", url, "--json"]);
  const following = here.start(["events", "later", "--url", url, "--follow", "--json"]);
  await until(() => following.out().includes("goal_submitted"), { what: "the history" });
  await here.carry("later");
  expect((await waiting.ended).json()).toMatchObject({ disposition: "done" });
  const { seq } = await here.state("later");
  await until(() => following.out().trimEnd().split("\n").length >= seq, { what: "the events" });
  following.process.kill("SIGINT");
  const ran = await following.ended;
  expect(ran.code).toBe(0);
  expect(ran.rows().map((row) => row["seq"])).toEqual(Array.from({ length: seq }, (_, index) => index + 1));
  expect((await here.start(["wait", "half-1", "--url", url, "--timeout", "0.3"]).ended).code).toBe(8);
});

test("what needs the ledger itself says so, and a gateway that is not there is 7", async () => {
  for (const words of [["verify", "done-1"], ["ledger", "dump"], ["projections", "ls"]]) expect((await remotely(...words)).code).toBe(2);
  const gone = await here.start(["status", "x", "--url", "http://127.0.0.1:9"]).ended;
  expect(gone).toMatchObject({ code: 7, out: "", err: expect.stringContaining("cannot be reached") });
  expect((await here.start(["cancel", "x", "--url", "http://127.0.0.1:9"]).ended).code).toBe(7);
  expect((await here.start(["status", "x", "--url", "nonsense"]).ended).code).toBe(2);
});

test("the token is sent, and never to where a redirect points", async () => {
  const heard: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    heard.push(request.headers.authorization);
    response.writeHead(302, { location: "http://127.0.0.1:9/elsewhere" }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  expect((await here.start(["status", "x", "--url", address], { LOOPLEDGER_TOKEN: "secret-1" }).ended).code).toBe(7);
  expect(heard).toEqual(["Bearer secret-1"]);
  await new Promise((resolve) => server.close(resolve));
});
