import { execFile } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { identify } from "@loopledger/infra/process-identity";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Workshop, patienceMs } from "./workshop.ts";

vi.setConfig({ testTimeout: 2 * patienceMs, hookTimeout: patienceMs });

let shop: Workshop;
beforeAll(() => {
  shop = new Workshop();
  shop.write("goals/large.yaml", `goal: ${"x".repeat(2_000_000)}\n`);
  shop.write("goals/list.yaml", "- make it pass\n- and the other\n");
  shop.write("goals/field.yaml", "goal: x\nmaker: m\ncheck: c\nbudjet: { iterations: 2 }\n");
  shop.write("goals/handler.yaml", "goal: x\nmaker: nobody\ncheck: c\n");
  shop.write("guards/tool.yaml", "goal: x\nmaker: m\ncheck: c\npolicy: { approvals: [{ before: deploi }] }\n");
  shop.write("guards/gate.yaml", "goal: x\nmaker: m\ncheck: c\npolicy: { gates: [safe] }\n");
  shop.write("loopledger.config.json", '{ "makers": { "m": { "exec": ["true"] } }, "checks": { "c": { "exec": ["true"] } } }');
  shop.write("a-file", "not a folder");
  symlinkSync("circle", join(shop.folder, "circle"));
  shop.write("bad.yaml", "makers: { m: { exce: [true] } }\nchekcs: {}\n");
});
afterAll(() => shop.close());

describe("bad input is refused with 2, a reason and what to do, and nothing is started", () => {
  test.each<[string, readonly string[], RegExp]>([
    ["an unknown command", ["statsu", "x"], /no command "statsu"\. Did you mean status\?/],
    ["an unknown flag", ["run", "x", "--itterations", "3"], /unknown option '--itterations'.*--iterations/is],
    ["a missing argument", ["status"], /missing required argument 'id'/i],
    ["a word too many", ["advance", "a", "b"], /too many arguments/i],
    ["a bad id", ["run", "x", "--maker", "true", "--check", "true", "--id", "a b"], /"a b" is no session id/],
    ["unbalanced quotes", ["run", "x", "--maker", "sh -c 'exit", "--check", "true"], /quote ' at position 7 is not closed/],
    ["an operator of a shell", ["run", "x", "--maker", "true && true", "--check", "true"], /--shell/],
    ["a number that is none", ["run", "x", "--maker", "true", "--check", "true", "--cost", "lots"], /--cost must be a number above 0/],
    ["a time with its unit", ["run", "x", "--maker", "true", "--check", "true", "--timeout", "5s"], /--timeout, in seconds, must be a number above 0, not "5s"/],
    ["an empty goal", ["run", "  ", "--maker", "true", "--check", "true"], /goal is empty/],
    ["a goal file that is not there", ["run", "goals/none.yaml"], /no file .*none\.yaml/],
    ["a goal of two megabytes", ["run", "goals/large.yaml"], /256 KiB/],
    ["YAML that is no goal", ["run", "goals/list.yaml"], /it is a list/],
    ["an unknown field", ["run", "goals/field.yaml"], /budjet: unknown field; did you mean budget\?/],
    ["an unknown handler", ["validate", "goals/handler.yaml"], /no maker nobody in the config \(makers: m\)/],
    ["a guard before a tool that is not there", ["validate", "guards/tool.yaml"], /policy\.approvals asks before deploi, and there is no such tool in the config \(tools: none\)/],
    ["such a guard of what would run", ["run", "guards/tool.yaml"], /asks before deploi/],
    ["a gate", ["run", "guards/gate.yaml"], /policy\.gates names safe, and no gates are run here: leave it out, or ask a person/],
    ["an unknown handler in dev", ["dev", "--once"], /goals\/handler\.yaml: there is no maker nobody/],
    ["a config with mistakes", ["run", "x", "--config", "bad.yaml"], /chekcs: unknown field; did you mean checks\?[\s\S]*did you mean exec\?/],
    ["a config that is not there", ["run", "x", "--config", "none.ts"], /no config .*none\.ts/],
    ["such a config, of a command that needs none", ["ls", "--config", "none.ts"], /no config .*none\.ts/],
    ["such a config, of a check", ["verify", "x", "--config", "none.ts"], /no config .*none\.ts/],
    ["a variable with its value", ["run", "x", "--maker", "true", "--check", "true", "--env", "A=b"], /--env takes the name of a variable, not "A=b": set it before the command, A=b loopledger run … --env A\n/],
    ["a variable of the engine's", ["run", "x", "--maker", "true", "--check", "true", "--env", "LOOPLEDGER_DATA"], /--env: names that start with LOOPLEDGER_ are set by the engine/],
    ["a time beyond all measure", ["run", "x", "--maker", "true", "--check", "true", "--timeout", "1e9"], /command line has mistakes[\s\S]*--timeout: /],
    ["a digest that is none", ["approve", "x", "cp-1", "--digest", "00"], /--digest takes sha256: and 64 hexadecimal digits, not "00"/],
    ["an action of who only approves", ["approve", "x", "cp-1", "--action", "{}"], /unknown option '--action'/i],
    ["a file as the folder of Kafka", ["infra", "up", "--dir", "guards/tool.yaml"], /guards\/tool\.yaml: it is no folder[\s\S]*--dir/],
    ["that of what runs", ["infra", "status", "--dir", "guards/tool.yaml"], /guards\/tool\.yaml: it is no folder/],
    ["a folder of Kafka where none can be made", ["infra", "up", "--dir", "/proc/none"], /keep their data in \/proc\/none/],
    ["a project where none can be made", ["init", "/proc/none"], /\/proc\/none cannot be made/],
    ["an unknown role", ["serve", "--roles", "worker,walker"], /no role walker/],
    ["a port that is none", ["serve", "--port", "99999"], /--port must be at most 65535/],
    ["an unknown session", ["advance", "nobody"], /no session nobody/],
    ["an unknown pattern", ["init", "there", "--pattern", "nope"], /Patterns are daily-triage, pr-review, repair/],
    ["an unknown shell", ["completion", "tcsh"], /bash, zsh and fish/],
  ])("%s", async (_what, words, reason) => {
    const ended = await shop.run(...words);
    expect(ended).toMatchObject({ code: 2, out: "" });
    expect(ended.err).toMatch(reason);
    expect(ended.err).not.toMatch(/internal|\n\s+at /);
    expect(shop.has(".loopledger/ledger.db")).toBe(false);
  });

  test("a config that the environment names counts as if it was typed, and what is typed goes before it", async () => {
    const named = { LOOPLEDGER_CONFIG: "none.ts" };
    expect(await shop.start(["ls"], named).ended).toMatchObject({ code: 2, out: "", err: expect.stringMatching(/no config .*none\.ts[\s\S]*LOOPLEDGER_CONFIG/) });
    shop.write("named.yaml", "makers: { nobody: { exec: ['true'] } }\nchecks: { c: { exec: ['true'] } }\n");
    expect(await shop.start(["validate", "goals/handler.yaml"], { LOOPLEDGER_CONFIG: "named.yaml" }).ended).toMatchObject({ code: 0 });
    expect(await shop.start(["validate", "goals/handler.yaml", "--config", "loopledger.config.json"], named).ended).toMatchObject({ code: 2, err: expect.stringContaining("no maker nobody") });
  });
  test("settings of the environment that cannot be right are named all at once", async () => {
    const ended = await shop.start(["run", "x", "--maker", "true", "--check", "true"], { LOOPLEDGER_LEASE_MS: "soon", LOOPLEDGER_FAILPOINTS: "worker.nowhere=kill" }).ended;
    expect(ended).toMatchObject({ code: 2, err: expect.stringMatching(/LOOPLEDGER_LEASE_MS[\s\S]*worker\.nowhere/) });
  });
  test("with --json the refusal is one document on stderr", async () => {
    const ended = await shop.run("statsu", "--json");
    expect(ended.out).toBe("");
    expect(JSON.parse(ended.err)).toMatchObject({ error: { code: "unknown_command", exitCode: 2 } });
  });
  test("a ledger that cannot be reached is 7", async () => {
    shop.write("in-the-way", "a file, not a folder");
    expect(await shop.run("run", "x", "--maker", "true", "--check", "true", "--data", "in-the-way/data")).toMatchObject({ code: 7 });
  });
  test.each([["status", "x"], ["verify", "x"], ["advance", "x"], ["pause", "x"], ["audit"], ["approvals"]])("a data folder that is none, or cannot be looked into, never reads as an empty one: %s", async (...words) => {
    for (const data of ["a-file", "circle"]) {
      expect(await shop.run(...words, "--data", data)).toMatchObject({ code: 7, out: "", err: expect.stringMatching(/The data folder .* cannot be used: .*(is no folder|ELOOP)/) });
    }
  });
  test("a step outside of a maker is 7", async () => {
    expect(await shop.run("step", "budget")).toMatchObject({ code: 7, err: expect.stringContaining("LOOPLEDGER_STEP_URL") });
  });
});

describe("what is looked at does nothing, and what is not there is said to be so", () => {
  test.each(["ledger", "projections", "step"])("%s without one of its commands gives its help and 2", async (name) => {
    expect(await shop.run(name)).toMatchObject({ code: 2, out: "", err: expect.stringMatching(new RegExp(`^Usage: loopledger ${name}`)) });
    expect(JSON.parse((await shop.run(name, "--json")).err)).toMatchObject({ error: { exitCode: 2 } });
  });
  test("validate runs no program that is not a config by its name", async () => {
    shop.write("evil.mjs", 'import { writeFileSync } from "node:fs";\nwriteFileSync("executed", "");\nexport default {};\n');
    expect(await shop.run("validate", "evil.mjs")).toMatchObject({ code: 2, err: expect.stringContaining("only one that is called loopledger.config.*") });
    expect(shop.has("executed")).toBe(false);
  });
  test("validate takes a project's folder, and a goal with the config of the folder above it", async () => {
    shop.write("inner/goals/one.yaml", "goal: x\nmaker: m\ncheck: c\n");
    shop.write("inner/loopledger.config.json", shop.read("loopledger.config.json"));
    expect(await shop.run("validate", "inner")).toMatchObject({ code: 0, out: expect.stringContaining("right: 1 maker, 1 check") });
    expect((await shop.run("validate", "inner/goals/one.yaml")).out).toContain("inner/loopledger.config.json");
    expect(await shop.run("validate", "goals")).toMatchObject({ code: 2, err: expect.stringContaining("no loopledger.config") });
  });
  test("ls and ledger dump name the folder in which they looked", async () => {
    expect(await shop.run("ls", "--data", "elsewhere")).toMatchObject({ code: 0, out: "", err: expect.stringContaining(`${shop.folder}/elsewhere`) });
    expect(await shop.run("ledger", "dump", "--data", "elsewhere")).toMatchObject({ code: 0, out: "", err: expect.stringContaining("There is no ledger in") });
    expect(shop.has("elsewhere")).toBe(false);
  });
  test("a file in place of the data folder is told by whoever reads, and never read as nothing", async () => {
    shop.write("file", "not a ledger");
    for (const words of [["ls"], ["approvals"], ["status", "s"], ["events", "s"], ["ledger", "dump"], ["audit"], ["projections", "ls"], ["run", "x", "--maker", "true", "--check", "true"]]) {
      for (const data of ["file", "file/below"]) {
        expect(await shop.run(...words, "--data", data), words.join(" ")).toMatchObject({ code: 7, out: "", err: expect.stringContaining("/file is no folder") });
      }
    }
    expect(shop.read("file")).toBe("not a ledger");
  });
  test("a data folder where none can be made is refused at once, by commands and by doctor", async () => {
    expect(await shop.run("run", "x", "--maker", "true", "--check", "true", "--data", "/proc/nowhere")).toMatchObject({ code: 7, err: expect.stringContaining("/proc/nowhere cannot be made") });
    const { out, code } = await shop.run("doctor", "--json", "--data", "/proc/nowhere/deep");
    expect(code).toBe(1);
    expect(JSON.parse(out).checks.find((check: { name: string }) => check.name === "data folder")).toMatchObject({ ok: false, detail: expect.stringContaining("/proc") });
  });
});

describe("submit with a config at hand", () => {
  const goal = (id: string, maker: string): string => JSON.stringify({ id, goal: "x", maker, check: "c" });

  test("notes on stderr what the goal names and this config does not have, and takes it in all the same", async () => {
    shop.write("there.json", goal("there", "m"));
    shop.write("away.json", JSON.stringify({ id: "away", goal: "x", maker: "nobody", check: "nothing" }));
    expect(await shop.run("submit", "there.json", "--data", "noted")).toEqual({ code: 0, out: "there\n", err: "" });
    const away = await shop.run("submit", "away.json", "--data", "noted");
    expect(away).toMatchObject({ code: 0, out: "away\n" });
    expect(away.err).toMatch(/note: there is no maker nobody in the config \(makers: m\); .*\n.*note: there is no check nothing in the config \(checks: c\);/);
    const again = await shop.run("submit", "away.json", "--data", "noted", "--json");
    expect(again).toMatchObject({ code: 0, err: expect.stringContaining("no maker nobody") });
    expect(JSON.parse(again.out)).toMatchObject({ created: false, sessionId: "away" });
  });
  test("says so where there is no config, nothing where there is one with mistakes, and what a config prints is not on stdout", async () => {
    shop.write("elsewhere.json", goal("elsewhere", "nobody"));
    shop.write("bare/goal.json", goal("bare", "nobody"));
    expect(await shop.start(["submit", "goal.json"], {}, join(shop.folder, "bare")).ended).toMatchObject({
      code: 0, out: "bare\n", err: expect.stringMatching(/note: there is no loopledger\.config\.\* in this folder\.\n.*there is no maker nobody here; the session waits/),
    });
    shop.write("bare/gated.json", JSON.stringify({ id: "gated", goal: "x", maker: "m", check: "c", policy: { gates: ["safe"] } }));
    expect((await shop.start(["submit", "gated.json"], {}, join(shop.folder, "bare")).ended).err).toMatch(/note: policy\.gates names safe, and no gates are run here/);
    expect(await shop.start(["submit", "goal.json", "--url", "http://127.0.0.1:1"], {}, join(shop.folder, "bare")).ended).toMatchObject({ code: 7, out: "" });
    expect(await shop.run("submit", "elsewhere.json", "--data", "noted", "--config", "bad.yaml")).toEqual({ code: 0, out: "elsewhere\n", err: "" });
    shop.write("talks/loopledger.config.mjs", 'console.log("hello");\nexport default { makers: {}, checks: {} };\n');
    shop.write("talks/goal.json", goal("talks", "nobody"));
    expect(await shop.start(["submit", "goal.json"], {}, join(shop.folder, "talks")).ended).toMatchObject({ code: 0, out: "talks\n", err: expect.stringMatching(/^hello\n {2}note: there is no maker nobody/) });
  });
});

test("a --protect that matches no file is told, and one that matches is not", async () => {
  const ran = await shop.run("run", "x", "--maker", "true", "--check", "true", "--protect", "tests/**", "--protect", "guards/*.yaml", "--protect", "goals", "--data", "protecting");
  expect(ran).toMatchObject({ code: 0, err: expect.stringContaining("--protect 'tests/**': no file here matches it, so it protects nothing now.") });
  expect(ran.err.match(/--protect/g)).toHaveLength(1);
});

test("a folder that is gone is told, and asked of nobody", async () => {
  shop.write("gone/x", "");
  const script = `cd gone && rm x && rmdir "$PWD" && exec "${process.execPath}" "${join(import.meta.dirname, "../../packages/cli/src/main.ts")}" ls`;
  const ended = await new Promise<{ code: number | null; err: string }>((resolve) => {
    execFile("/bin/sh", ["-c", script], { cwd: shop.folder }, (error, _out, err) => resolve({ code: Number(error?.code ?? 0), err }));
  });
  expect(ended).toMatchObject({ code: 2, err: expect.stringContaining("The folder that this was typed in is not there any more.") });
});

describe("help", () => {
  test("names every command, and each has an example", async () => {
    const { out, code } = await shop.run("--help");
    expect(code).toBe(0);
    const names = [...out.matchAll(/^ {2}([a-z-]+)(?: |$)/gm)].map((match) => match[1] ?? "").filter((name) => !["help", "loopledger"].includes(name));
    expect(names).toEqual(expect.arrayContaining(["init", "dev", "run", "serve", "advance", "validate", "doctor", "step", "completion"]));
    const helps = await Promise.all(names.map((name) => shop.run(name, "--help")));
    for (const [index, help] of helps.entries()) {
      expect(help, names[index]).toMatchObject({ code: 0, err: "" });
      expect(help.out, names[index]).toMatch(/Examples?:\n {2}.*loopledger/);
    }
  });
  test.each(["bash", "zsh", "fish"])("completion for %s knows commands and their options", async (shell) => {
    const { out, code } = await shop.run("completion", shell);
    expect(code).toBe(0);
    expect(out).toMatch(/advance/);
    expect(out).toMatch(shell === "fish" ? /seen_subcommand_from run' -l iterations/ : /run\).*--iterations/);
  });
});

describe("doctor and validate", () => {
  test("a folder that is right", async () => {
    const { out, code } = await shop.run("doctor", "--json");
    expect(code).toBe(0);
    const { ok, checks } = JSON.parse(out);
    expect(ok).toBe(true);
    expect(checks.map((check: { name: string }) => check.name)).toEqual(expect.arrayContaining(["node", "data folder", "ledger", "views", "config", "git", "keys"]));
  });
  test("what is wrong is named with what mends it", async () => {
    const { out, code } = await shop.run("doctor", "--json", "--config", "bad.yaml");
    expect(code).toBe(1);
    expect(JSON.parse(out).checks.find((check: { name: string }) => check.name === "config")).toMatchObject({ ok: false, fix: expect.any(String) });
  });
  test("parts of this data folder that run on other ports than the environment names are told", async () => {
    mkdirSync(join(shop.folder, "moved", "infra"), { recursive: true });
    shop.write("moved/infra/infra.json", JSON.stringify({ v: 1, keeper: null, nodes: [{ part: "redis", name: "redis", process: identify(process.pid), port: 29_999 }] }));
    const { out, code } = await shop.start(["doctor", "--json", "--data", "moved"], { LOOPLEDGER_KAFKA_BROKERS: "127.0.0.1:9", LOOPLEDGER_REDIS_URL: "redis://127.0.0.1:9" }).ended;
    expect(code).toBe(1);
    expect(JSON.parse(out).checks.find((check: { name: string }) => check.name === "infra")).toMatchObject({ ok: false, detail: expect.stringContaining("redis://127.0.0.1:29999"), fix: expect.stringContaining("eval") });
  });
  test("a session that is alive and began with another check than this config has is told, until it has ended", async () => {
    const config = (check: string) => JSON.stringify({ makers: { m: { exec: ["true"] } }, checks: { c: { exec: ["sh", "-c", check] } } });
    shop.write("one/loopledger.config.json", config("exit 1"));
    shop.write("two/loopledger.config.json", config("exit 2"));
    shop.write("pinned.json", JSON.stringify({ id: "pinned", goal: "x", maker: "m", check: "c", budget: { iterations: 1 } }));
    await shop.run("submit", "pinned.json", "--data", "shared");
    const pinsOf = async (project: string): Promise<unknown> => {
      const { out } = await shop.run("doctor", "--json", "--data", "shared", "--config", `${project}/loopledger.config.json`);
      return JSON.parse(out).checks.find((check: { name: string }) => check.name === "pins");
    };
    expect(await pinsOf("two")).toMatchObject({ ok: true });
    await shop.run("advance", "pinned", "--data", "shared", "--config", "one/loopledger.config.json");
    expect(await pinsOf("one")).toMatchObject({ ok: true });
    expect(await pinsOf("two")).toMatchObject({ ok: false, detail: expect.stringContaining("c of pinned"), fix: expect.stringContaining("resume pinned --accept-check") });
    await shop.run("cancel", "pinned", "--data", "shared");
    expect(await pinsOf("two")).toMatchObject({ ok: true });
  });
  test("a goal: what is bounded, pinned and asked", async () => {
    shop.write("right.yaml", "id: right\ngoal: x\nmaker: m\ncheck: c\nbudget: { iterations: 2 }\npolicy: { approvals: [{ everyIterations: 5 }] }\n");
    const { out, code } = await shop.run("validate", "right.yaml", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ ok: true, kind: "goal", id: "right", bounds: { iterations: 2 }, pinned: [{ check: "c" }], asked: ["after every 5 iterations"] });
    expect((await shop.run("validate", "loopledger.config.json")).out).toContain("right: 1 maker, 1 check, 0 tools");
  });
});
