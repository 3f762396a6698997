import { chmodSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../support/until.ts";
import { type Stage, stage } from "./stage.ts";
import { greenFrom } from "./works.ts";

let here: Stage;
beforeAll(async () => {
  here = await stage(greenFrom(9));
  here.write("make.sh", "#!/bin/sh\necho at work\necho ok > out.txt\n");
  here.write("judge.sh", "#!/bin/sh\necho looking\ngrep -q ok out.txt\n");
  for (const name of ["make.sh", "judge.sh"]) chmodSync(join(here.folder, name), 0o755);
  const ran = await here.cli("run", "Make the file", "--maker", "./make.sh", "--check", "./judge.sh", "--id", "r", "--json");
  if (ran.code !== 0) throw new Error(ran.err);
});
afterAll(() => here.close());

const work = (content: string): void => here.write("out.txt", content);

test("the check of a run is executed again, from any folder, and the receipt holds while nothing has changed", async () => {
  const ran = await here.cli("verify", "r", "--json");
  expect(ran.code).toBe(0);
  expect(ran.json()).toMatchObject({ holds: true, reason: null });
  expect(ran.err).toContain("looking");
});

test("work that fails the check, work of another revision, and another check are told apart", async () => {
  work("bad\n");
  expect(await here.cli("verify", "r", "--json")).toMatchObject({ code: 1, out: expect.stringContaining('"check_failed"') });
  expect((await here.cli("verify", "r")).out).toMatch(/check_failed[\s\S]*\n {2}Submit the goal under a new id/);
  work("ok and more\n");
  expect((await here.cli("verify", "r")).out).toMatch(/stale.*\n {2}The work was changed after the receipt was made\. Go back/);
  expect(await here.cli("verify", "r", "--json")).toMatchObject({ code: 1, out: expect.stringContaining('"stale"') });
  work("ok\n");
  expect((await here.cli("verify", "r")).code).toBe(0);
  here.write("judge.sh", "#!/bin/sh\nexit 0\n");
  const changed = await here.cli("verify", "r", "--json");
  expect(changed).toMatchObject({ code: 1, out: expect.stringContaining('"stale"') });
  expect(changed.out).toContain("judge.sh");
  here.write("judge.sh", "#!/bin/sh\necho looking\ngrep -q ok out.txt\n");
  expect((await here.cli("verify", "r")).code).toBe(0);
});

test("a revision that the check names itself is what is compared, as it was when the receipt was made", async () => {
  here.write("named.sh", '#!/bin/sh\ngrep -q fine named.txt || exit 1\nprintf \'{"verdict":"PASS","next_steps":[],"revision":"%s"}\' "$(cat version)" >"$LOOPLEDGER_VALIDATION"\n');
  here.write("version", "v1");
  here.write("named-make.sh", "#!/bin/sh\necho fine > named.txt\n");
  for (const name of ["named.sh", "named-make.sh"]) chmodSync(join(here.folder, name), 0o755);
  const ran = await here.cli("run", "Make the named file", "--maker", "./named-make.sh", "--check", "./named.sh", "--id", "n", "--json");
  expect(ran.code).toBe(0);
  expect((await here.cli("verify", "n", "--json")).json()).toMatchObject({ holds: true, reason: null });
  here.write("version", "v2");
  const stale = await here.cli("verify", "n", "--json");
  expect(stale).toMatchObject({ code: 1, out: expect.stringContaining('"stale"') });
  expect(stale.out).toContain("v2, not v1");
});

test("verifying writes nothing to the ledger", async () => {
  const { seq, void: refused } = await here.state("r");
  await here.cli("verify", "r");
  const rows = (await here.cli("events", "r", "--json", "--void")).rows();
  expect(rows).toHaveLength(seq);
  expect(refused).toEqual({});
});

test("logs show what maker and check printed, cycle by cycle", async () => {
  const rows = (await here.cli("logs", "r", "--json")).rows();
  expect(rows.map((row) => [row["iteration"], row["source"], row["outcome"], row["text"]])).toEqual([
    [0, "check", "FAIL", expect.stringContaining("looking")], [1, "maker", "built", "at work\n"], [1, "check", "PASS", "looking\n"],
  ]);
  expect((await here.cli("logs", "r", "--iteration", "1")).out).toContain("at work");
  expect((await here.cli("logs", "r", "--iteration", "7", "--json")).out).toBe("");
});

test("a payload that the receipt rests on and that is gone is missing evidence, never a pass", async () => {
  const long = "#!/bin/sh\nhead -c 20000 /dev/zero | tr '\\\\0' x\ngrep -q fine long.txt\n";
  here.write("long.sh", long);
  here.write("long-make.sh", "#!/bin/sh\necho fine > long.txt\n");
  for (const name of ["long.sh", "long-make.sh"]) chmodSync(join(here.folder, name), 0o755);
  const ran = await here.cli("run", "Make the other file", "--maker", "./long-make.sh", "--check", "./long.sh", "--id", "l", "--json");
  expect(ran.code).toBe(0);
  const final = (await here.cli("events", "l", "--json")).rows().findLast((row) => row["type"] === "check") as never as { data: { log: { blob?: string } } };
  expect(final.data.log.blob).toMatch(/^sha256:/);
  rmSync(join(here.folder, "data", "blobs"), { recursive: true });
  expect(await here.cli("verify", "l", "--json")).toMatchObject({ code: 1, out: expect.stringContaining('"evidence_missing"') });
});

test("without a receipt there is nothing to verify", async () => {
  await here.submit("s");
  expect(await here.cli("verify", "s", "--json")).toMatchObject({ code: 2, out: "" });
  expect((await here.cli("verify", "none")).code).toBe(2);
});

test("logs --follow shows what a running cycle prints while it prints it, and nothing twice", async () => {
  here.write("slow.sh", "#!/bin/sh\necho first\nuntil [ -f go ]; do sleep 0.05; done\necho second\necho fine > slow.txt\n");
  chmodSync(join(here.folder, "slow.sh"), 0o755);
  const running = here.start(["run", "Make the slow file", "--maker", "./slow.sh", "--check", "grep -q fine slow.txt", "--id", "slow"]);
  await until(async () => (await here.cli("status", "slow", "--json")).out.includes('"active": "build"'), { what: "the build" });
  const following = here.start(["logs", "slow", "--follow"]);
  await until(() => following.out().includes("first\n"), { what: "what the maker prints" });
  expect(following.out()).not.toContain("second");
  here.write("go", "");
  expect((await running.ended).code).toBe(0);
  await until(() => following.out().includes("maker run/maker, built"), { what: "the end of the cycle" });
  following.process.kill("SIGTERM");
  const { out, code } = await following.ended;
  expect(code).toBe(0);
  expect(out.match(/first/g)).toHaveLength(1);
  expect(out.match(/second/g)).toHaveLength(1);
});

test("where no config has the check, the refusal says what to type", async () => {
  await here.submit("elsewhere");
  expect((await here.carry("elsewhere")).receipt).not.toBeNull();
  expect(await here.cli("verify", "elsewhere")).toMatchObject({ code: 2, out: "", err: expect.stringMatching(/No config here has the check[\s\S]* verify elsewhere --config FILE/) });
});
