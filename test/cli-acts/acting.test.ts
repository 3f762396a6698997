import type { SessionId } from "@loopledger/shared/core/brand";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Stage, stage } from "./stage.ts";
import { greenFrom } from "./works.ts";

let here: Stage;
beforeAll(async () => {
  here = await stage(greenFrom(2));
});
afterAll(() => here.close());

test("cancel ends a session for good; a second one says that it is so already", async () => {
  await here.submit("c");
  const first = await here.cli("cancel", "c", "--json", "--reason", "not wanted");
  expect(first.code).toBe(0);
  expect(first.json()).toMatchObject({ act: "cancel_requested", disposition: "cancelled", reason: "cancelled" });
  expect((await here.cli("events", "c", "--json")).rows().find((row) => row["type"] === "cancel_requested")).toMatchObject({
    actor: { kind: "human", id: "bob" }, data: { reason: "not wanted" },
  });
  expect(await here.cli("cancel", "c")).toMatchObject({ code: 0, out: expect.stringContaining("It was so before") });
  expect(await here.cli("resume", "c")).toMatchObject({ code: 1, out: "", err: expect.stringContaining("after_end") });
  expect((await here.state("c")).end?.disposition).toBe("cancelled");
  // The report of the end is on the ledger too, although nobody serves.
  expect((await here.cli("events", "c", "--json")).rows().at(-1)).toMatchObject({ type: "status", data: { disposition: "cancelled" } });
  // The second one had nothing to add, so nothing was written for it.
  const cancels = (await here.cli("events", "c", "--void", "--json")).rows().filter((row) => row["type"] === "cancel_requested");
  expect(cancels).toHaveLength(1);
});

test("a session of a newer release is held: no act is written that a later release would take", async () => {
  const id = (await here.submit("future")) as SessionId;
  const { author, ledger, folds } = here.engine;
  const { record } = author.write(id, { type: "guidance", data: { text: "x" }, actor: { kind: "human", id: "ann" } });
  await ledger.append(id, [JSON.stringify({ ...record, type: "from_the_future" })]);
  await folds.caughtUp();
  const before = await ledger.readSession(id);
  expect(await here.cli("cancel", "future")).toMatchObject({ code: 1, out: "", err: expect.stringMatching(/a record that this release does not know: .*from_the_future/) });
  expect(await ledger.readSession(id)).toEqual(before);
});

test("explain tells the reason that was given for an end, and by whom", async () => {
  await here.submit("c2");
  await here.cli("cancel", "c2", "--reason", "the customer has gone");
  expect((await here.cli("explain", "c2")).out).toContain("bob gave as the reason: the customer has gone");
  await here.submit("c3");
  expect((await here.cli("cancel", "c3")).code).toBe(0);
  expect((await here.cli("explain", "c3")).out).not.toContain("reason:");
});

test("what was handed off is worked on by nobody: cancel says so, and writes no end", async () => {
  const ran = await here.cli("run", "never", "--maker", "true", "--check", "false", "--id", "h");
  expect(ran).toMatchObject({ code: 5, out: expect.stringContaining("The same failure came back 3 times in a row, and there the breaker stops (policy.breaker.same).") });
  const { end } = await here.state("h");
  const cancelled = await here.cli("cancel", "h", "--reason", "enough");
  expect(cancelled).toMatchObject({ code: 1, out: "" });
  expect(cancelled.err).toMatch(/handed off \(no_progress\) since seq \d+: nobody works on it any more, and there is nothing to cancel/);
  expect((await here.state("h")).end).toEqual(end);
});

test("a text that is too long for its record is bad input, and nothing is written", async () => {
  await here.submit("t");
  const { seq } = await here.state("t");
  const ran = await here.cli("guide", "t", "x".repeat(70_000));
  expect(ran).toMatchObject({ code: 2, out: "" });
  expect(ran.err).toMatch(/cannot be written on the ledger[\s\S]*text: Too big/);
  expect((await here.state("t")).seq).toBe(seq);
});

test("pause holds the next dispatch back, and resume lets it go on to the end", async () => {
  await here.submit("p");
  await here.carry("p", 1);
  expect((await here.cli("pause", "p", "--json", "--now")).json()).toMatchObject({ disposition: "waiting", reason: "paused" });
  await here.carry("p");
  expect((await here.cli("status", "p", "--exit-code")).code).toBe(3);
  expect((await here.cli("explain", "p", "--json")).json()).toMatchObject({ next: "loopledger resume p" });
  expect((await here.cli("resume", "p", "--json")).json()).toMatchObject({ act: "resumed", disposition: "running" });
  expect((await here.carry("p")).end?.disposition).toBe("done");
  await here.submit("p2");
  expect(await here.cli("resume", "p2")).toMatchObject({ code: 1, err: expect.stringContaining("nothing to resume") });
});

test("a used-up budget waits with 4, and a raise lets the same session go on", async () => {
  await here.submit("b", { budget: { iterations: 1 } });
  await here.carry("b");
  expect((await here.cli("status", "b", "--exit-code", "--json"))).toMatchObject({ code: 4 });
  const { next, why } = (await here.cli("explain", "b", "--json")).json() as never as { next: string; why: string };
  expect(why).toContain("budget of iterations is used up (1 spent)");
  expect(next).toBe("loopledger budget b --iterations +5");
  const raised = await here.cli(...next.split(" ").slice(1), "--cost", "+2.5", "--json");
  expect(raised.json()).toMatchObject({ act: "budget_raised", disposition: "running", budget: { iterations: { limit: 6, remaining: 4 } } });
  expect((await here.carry("b")).end?.disposition).toBe("done");
  expect((await here.cli("budget", "b", "--json")).json()).toMatchObject({ iterations: { limit: 6, spent: 2 } });
});

test.each([["--iterations", "-5"], ["--iterations", "1.5"], ["--cost", "much"], ["--cost", "+0"]])("budget %s %s is refused, and nothing is written", async (flag, value) => {
  await here.submit("b2");
  const { seq } = await here.state("b2");
  expect((await here.cli("budget", "b2", flag, value)).code).toBe(2);
  expect((await here.state("b2")).seq).toBe(seq);
});

test("guidance reaches the next build, and empty guidance is refused", async () => {
  await here.submit("g");
  expect((await here.cli("guide", "g", "look at the cookie", "--json")).json()).toMatchObject({ act: "guidance", seq: 3 });
  expect((await here.state("g")).guidance).toEqual(["look at the cookie"]);
  expect((await here.cli("guide", "g", " ")).code).toBe(2);
});

test("a checkpoint asked for from outside holds the session back until it is decided", async () => {
  await here.submit("k");
  expect((await here.cli("checkpoint", "k", "--reason", "let me look", "--json")).json()).toMatchObject({ disposition: "waiting", reason: "approval" });
  const [waiting] = (await here.cli("approvals", "--json")).rows() as never as { sessionId: string; checkpoint: string; action: unknown }[];
  expect(waiting).toMatchObject({ sessionId: "k", trigger: "external", action: { continue: true, reason: "let me look" }, standing: "pending" });
  expect(await here.cli("checkpoint", "k", "--reason", "me too")).toMatchObject({ code: 1, err: expect.stringContaining(waiting?.checkpoint ?? "-") });
  expect((await here.cli("approve", "k", waiting?.checkpoint ?? "", "--json", "--comment", "fine")).json()).toMatchObject({ act: "approval_decided", disposition: "running" });
  expect(await here.cli("approvals", "--json")).toMatchObject({ code: 0, out: "" });
  expect((await here.carry("k")).end?.disposition).toBe("done");
});
