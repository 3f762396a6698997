import { afterAll, beforeAll, expect, test } from "vitest";
import { type Stage, stage } from "./stage.ts";
import { greenFrom } from "./works.ts";

let here: Stage;
beforeAll(async () => {
  here = await stage(greenFrom(1));
  for (const id of ["a", "b"]) {
    await here.submit(id);
    await here.carry(id);
  }
});
afterAll(() => here.close());

test("the dump holds every entry of every partition, refused ones too, with the envelope as value", async () => {
  await here.engine.ledger.append("a" as never, ["not a record"]);
  const rows = (await here.cli("ledger", "dump")).rows();
  const expected: string[] = [];
  for (let partition = 0; partition < here.engine.ledger.partitions; partition++) {
    for (const entry of await here.engine.ledger.read(partition, 0 as never, 10_000)) expected.push(`${entry.partition}:${entry.offset}`);
  }
  expect(rows.map((row) => row["cursor"])).toEqual(expected);
  const own = (await here.cli("ledger", "dump", "--session", "a")).rows() as never as Record<string, unknown>[];
  expect(own.every((row) => row["key"] === "a")).toBe(true);
  expect(own[0]).toMatchObject({
    partition: expect.any(Number), offset: expect.any(Number), time: expect.any(Number), headers: { type: "goal_submitted", "ledger-id": here.engine.ledger.ledgerId },
    value: { v: 1, type: "goal_submitted", data: { goal: { goal: "Make the test pass" } } },
  });
  expect(own.at(-1)).toMatchObject({ value: "not a record", headers: {} });
  expect((await here.cli("ledger", "dump", "--session", "none")).code).toBe(2);
});

test("a read model is created from the ledger, equals it, and is taken into use; the status is then read from it", async () => {
  expect((await here.cli("projections", "create", "fresh", "--json")).json()).toEqual({ name: "fresh", created: true });
  expect((await here.cli("projections", "compare", "fresh", "--json")).json()).toEqual({ equal: true, sessions: 2, differing: [] });
  expect((await here.cli("projections", "use", "fresh")).code).toBe(0);
  expect((await here.cli("projections", "ls", "--json")).rows()).toMatchObject([{ name: "fresh", active: true, cursor: "fresh" }]);
  const from = async (id: string) => (await here.cli("status", id, "--json")).json();
  expect(await from("b")).toMatchObject({ disposition: "done" });
  // What came after the view was written is shown all the same.
  await here.submit("c");
  expect((await here.cli("ls", "--json")).rows().map((row) => row["sessionId"]).sort()).toEqual(["a", "b", "c"]);
  expect(await from("c")).toMatchObject({ disposition: "running" });
});

test("a read model that was changed by hand differs, and is told by its exit code", async () => {
  expect((await here.cli("projections", "create", "wrong")).code).toBe(0);
  const { openSqliteReadModel } = await import("@loopledger/shared/sqlite");
  const views = openSqliteReadModel({ folder: `${here.folder}/data`, ledgerId: here.engine.ledger.ledgerId });
  const partition = here.engine.ledger.partitionOf("b");
  const at = (await views.cursors("wrong")).get(partition) ?? 0;
  const document = (await views.get("wrong", "b" as never))?.replace('"done"', '"failed"') ?? "";
  const view = { sessionId: "b" as never, disposition: "failed", at: 1, labels: {}, document, snapshot: null };
  expect(await views.write("wrong", { partition, from: at as never, to: at as never, views: [view] })).toBe(true);
  await views.close();
  const compared = await here.cli("projections", "compare", "wrong", "--json");
  expect(compared.code).toBe(1);
  expect(compared.json()).toEqual({ equal: false, sessions: 3, differing: ["b"] });
  expect((await here.cli("projections", "drop", "wrong")).code).toBe(0);
  expect(await here.cli("projections", "compare", "wrong")).toMatchObject({ code: 2, err: expect.stringContaining("There are fresh") });
  expect(await here.cli("projections", "drop", "fresh")).toMatchObject({ code: 2, err: expect.stringContaining("in use") });
});
