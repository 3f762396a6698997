import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { windowOverAt } from "@loopledger/shared/core/session/rules/effects";
import { lookUp } from "@loopledger/shared/core/session/persistent-map";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../support/until.ts";
import { type Stage, stage } from "./stage.ts";
import { greenFrom } from "./works.ts";

/** A command that is to find a call window open has to be there before its end, on a busy machine too. */
const startSeconds = 15;

let here: Stage;
beforeAll(async () => {
  here = await stage(greenFrom(1));
  here.write("loopledger.config.mjs", `
    const lookup = (key, { epoch }) => key === "fenced:happened" ? { status: "happened", result: { at: epoch } } : { status: "did_not_happen" };
    export default { tools: { release: { fn: () => ({}), contract: "lookup", fences: true, lookup } } };
  `);
});
afterAll(() => here.close());

const lost = async (id: string, call: Parameters<Stage["loseOutcome"]>[1]): Promise<void> => {
  await here.submit(id);
  await here.loseOutcome(id, call);
};

test("an unsafe effect that nobody knows stops the session, named with its key, until a person says that it happened", async () => {
  await lost("h", { contract: "unsafe", key: "mail:ann" });
  const status = await here.cli("status", "h", "--json", "--exit-code");
  expect(status.code).toBe(3);
  expect(status.json()).toMatchObject({
    disposition: "failed", reason: "incomplete_tool_turn", error: "external outcome unknown; reconciliation required",
    effects: [{ key: "mail:ann", tool: "deploy", contract: "unsafe", state: "unknown" }], waitingOn: [{ kind: "reconciliation", id: "mail:ann" }],
  });
  const { next } = (await here.cli("explain", "h", "--json")).json() as never as { next: string };
  expect(next).toBe("loopledger reconcile h mail:ann --happened --evidence TEXT  # or: --did-not-happen --evidence TEXT");
  for (const said of ["--happened", "--did-not-happen"]) {
    expect(await here.cli("reconcile", "h", "mail:ann", said, "--evidence", "TEXT")).toMatchObject({ code: 2, out: "", err: expect.stringContaining("TEXT stands for what you saw") });
  }
  const settled = await here.cli("reconcile", "h", "mail:ann", "--happened", "--result", '{"id": 7}', "--evidence", "it is in the outbox", "--json");
  expect(settled.json()).toMatchObject({ act: "reconciled", disposition: "running", effects: [{ key: "mail:ann", state: "confirmed" }] });
  expect((await here.cli("events", "h", "--json")).rows().find((row) => row["type"] === "reconciled")).toMatchObject({
    actor: { kind: "human", id: "bob" }, data: { key: "mail:ann", epoch: 2, outcome: "happened", result: { id: 7 }, evidence: "it is in the outbox", by: "bob" },
  });
  expect((await here.carry("h")).end?.disposition).toBe("done");
});

test("a wrong key is refused, and the unknown ones are named; of two settled one the other still stops", async () => {
  await lost("two", { contract: "unsafe", key: "mail:one" });
  expect(await here.cli("reconcile", "two", "mail:on", "--happened")).toMatchObject({ code: 2, out: "", err: expect.stringContaining("Unknown are: mail:one") });
  expect((await here.cli("reconcile", "two", "mail:one", "--happened")).code).toBe(0);
  expect(await here.cli("reconcile", "two", "mail:one", "--happened")).toMatchObject({ code: 2, err: expect.stringContaining("is settled: confirmed") });
});

test("did-not-happen waits until no late call can arrive, says so, and is then accepted by the log's own time", async () => {
  await lost("w", { contract: "unsafe", key: "mail:late", callWindowSeconds: startSeconds });
  const state = await here.state("w");
  const effect = lookUp(state.effects, "mail:late");
  const over = effect ? windowOverAt(effect, state.lastClaimAt) : Number.NaN;
  const ran = await here.cli("reconcile", "w", "mail:late", "--did-not-happen", "--evidence", "the outbox is empty", "--json");
  expect(ran.code).toBe(0);
  expect(ran.err).toContain(new Date(over).toISOString());
  expect(ran.json()).toMatchObject({ effects: [{ key: "mail:late", state: "failed" }], void: {} });
  expect((await here.state("w")).at).toBeGreaterThan(over);
});

test("a ledger whose time is an hour ahead of this machine's clock: the wait is the call window's, not the hour", async () => {
  await here.submit("ahead");
  const file = new DatabaseSync(join(here.folder, "data", "ledger.db"));
  file.exec("UPDATE rec SET time = time + 3600000 WHERE pos = (SELECT max(pos) FROM rec)");
  file.close();
  await here.loseOutcome("ahead", { contract: "unsafe", key: "mail:ahead", callWindowSeconds: startSeconds });
  expect((await here.state("ahead")).at ?? 0).toBeGreaterThan(Date.now() + 3_000_000);
  const ran = await here.cli("reconcile", "ahead", "mail:ahead", "--did-not-happen", "--evidence", "the outbox is empty", "--json");
  expect(ran.code).toBe(0);
  expect(ran.err).toMatch(/waits 1?\d s/);
  expect(ran.json()).toMatchObject({ effects: [{ key: "mail:ahead", state: "failed" }] });
});

test("where the target fences, the command looks at it under the current epoch instead of waiting", async () => {
  await lost("f", { tool: "release", contract: "lookup", fences: true, key: "fenced:open", callWindowSeconds: 3600 });
  const ran = await here.cli("reconcile", "f", "fenced:open", "--did-not-happen", "--evidence", "the release page", "--json");
  expect(ran.code).toBe(0);
  expect(ran.err).toContain("looked at under epoch 2");
  expect((await here.cli("events", "f", "--json")).rows().find((row) => row["type"] === "reconciled")).toMatchObject({
    data: { outcome: "did_not_happen", epoch: 2, evidence: { said: "the release page" } },
  });
});

test("a target that says the contrary is believed: nothing is written, and the other answer is named", async () => {
  await lost("c", { tool: "release", contract: "lookup", fences: true, key: "fenced:happened", callWindowSeconds: 3600 });
  const { seq } = await here.state("c");
  expect(await here.cli("reconcile", "c", "fenced:happened", "--did-not-happen", "--evidence", "I think so")).toMatchObject({
    code: 1, out: "", err: expect.stringContaining("--happened"),
  });
  expect((await here.state("c")).seq).toBe(seq);
});

test("an effect whose owner may still write the outcome is not a person's to settle", async () => {
  await here.submit("o");
  const { open } = await here.state("o");
  const held = here.start(["reconcile", "o", "none", "--happened"]);
  expect(open).not.toBeNull();
  expect(await held.ended).toMatchObject({ code: 2, err: expect.stringContaining("Nothing is unknown") });
});

test.each([[[]], [["--happened", "--did-not-happen"]], [["--did-not-happen"]], [["--happened", "--result", "{"]]])("reconcile with %j is bad usage", async (flags) => {
  expect((await here.cli("reconcile", "h", "mail:ann", ...flags)).code).toBe(2);
});

test("a cancel over an unknown effect takes effect when it is settled", async () => {
  await lost("k", { contract: "unsafe", key: "mail:k" });
  expect((await here.cli("cancel", "k", "--json")).json()).toMatchObject({ disposition: "failed", reason: "incomplete_tool_turn" });
  expect((await here.cli("reconcile", "k", "mail:k", "--happened", "--json")).json()).toMatchObject({ disposition: "cancelled" });
  await until(async () => (await here.state("k")).end?.disposition === "cancelled", { what: "the end" });
});
