import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Stage, stage } from "../cli-acts/stage.ts";
import { greenFrom } from "../cli-acts/works.ts";

let here: Stage;
beforeAll(async () => {
  here = await stage(greenFrom(2));
  await here.submit("s-1");
  await here.carry("s-1");
  for (const [name, ...words] of [["dump.ndjson", "ledger", "dump"], ["verdicts.ndjson", "ledger", "dump", "--verdicts"], ["views.ndjson", "ls", "--json"]] as const) {
    here.write(name, (await here.cli(...words)).out);
  }
});
afterAll(() => here.close());
const given = ["--dump", "dump.ndjson", "--verdicts", "verdicts.ndjson", "--views", "views.ndjson"];

describe("loopledger audit", () => {
  test("judges the ledger of the data folder, with the verdicts of this release, and leaves with 0", async () => {
    const ran = await here.cli("audit", "--json");
    expect(ran.code).toBe(0);
    expect(ran.json()).toMatchObject({ exit: 0, violations: [], sessions: 1, counts: { void: {} } });
  });

  test("judges files, and says a violation a line with 1", async () => {
    expect((await here.cli("audit", ...given)).code).toBe(0);
    const rows = readFileSync(join(here.folder, "views.ndjson"), "utf8").replaceAll('"iteration":2', '"iteration":7');
    here.write("bent.ndjson", rows);
    const ran = await here.cli("audit", "--dump", "dump.ndjson", "--views", "bent.ndjson");
    expect(ran.code).toBe(1);
    expect(JSON.parse(ran.out.split("\n")[0] ?? "")).toMatchObject({ id: "T1", sessionId: "s-1", detail: expect.stringContaining("iteration 7 for 2") });
  });

  test("shows a person what was seen, and what never was where that is asked for", async () => {
    const brief = await here.cli("audit", ...given);
    expect(brief.out).toMatch(/^1 session: \d+ records accepted/m);
    expect(brief.out).not.toMatch(/^- +0 /m);
    expect(brief.err).toMatch(/\d+ of the \d+ situations that a test run looks for did not come up here, which is no fault: --coverage names them\.\nEverything that could be judged holds\.\n$/);
    for (const flag of ["--coverage", "--require-coverage"]) {
      const whole = await here.cli("audit", ...given, flag);
      expect(whole.out).toMatch(/^- +0 +contested_claim/m);
      expect(whole.err).not.toContain("did not come up");
    }
  });

  test("leaves with 2 where coverage is required and was not reached", async () => {
    const ran = await here.cli("audit", ...given, "--require-coverage", "--json");
    expect(ran.code).toBe(2);
    expect(ran.json()).toMatchObject({ exit: 2, violations: [], uncovered: expect.arrayContaining(["contested_claim"]) });
    const told = await here.cli("audit", ...given, "--require-coverage");
    const unseen = told.out.match(/^- +0 /gm)?.length ?? 0;
    expect(told).toMatchObject({ code: 2, err: expect.stringMatching(new RegExp(`\\n${unseen} of the \\d+ situations that --require-coverage asks for were not seen [^\n]*\\n$`)) });
  });

  test("leaves with 3 where a file is missing or holds no such rows, and names the line", async () => {
    expect((await here.cli("audit", "--dump", "nowhere.ndjson")).code).toBe(3);
    here.write("bad.ndjson", '\n{"kind":"call"}\n');
    const ran = await here.cli("audit", "--dump", "dump.ndjson", "--effects", "bad.ndjson");
    expect(ran).toMatchObject({ code: 3, out: "", err: expect.stringContaining("bad.ndjson, line 2") });
  });
});

describe("loopledger ledger dump", () => {
  test("--verdicts gives a verdict for each entry of the dump", async () => {
    const rows = (name: string): Record<string, unknown>[] => readFileSync(join(here.folder, name), "utf8").trimEnd().split("\n").map((line) => JSON.parse(line) as Record<string, unknown>);
    const place = ({ partition, offset }: Record<string, unknown>): string => `${partition as number}:${offset as number}`;
    expect(rows("verdicts.ndjson").map(place)).toEqual(rows("dump.ndjson").map(place));
    const ofSession = rows("dump.ndjson").flatMap(({ key }, index) => (key === "s-1" ? [rows("verdicts.ndjson")[index]] : []));
    expect(ofSession.map((row) => row?.["verdict"])).toEqual(ofSession.map(() => "accepted"));
    expect(ofSession.map((row) => row?.["seq"])).toEqual(ofSession.map((_, index) => index + 1));
  });

  test("shows the bytes beside a value that, written anew, would be others", async () => {
    const spaced = '{ "v": 1 }';
    await here.engine.ledger.append("s-2" as never, [spaced]);
    const ran = await here.cli("ledger", "dump");
    expect(ran.rows().filter(({ key }) => key === "s-2")).toEqual([expect.objectContaining({ value: { v: 1 }, text: spaced })]);
  });
});
