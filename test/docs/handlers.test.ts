/** docs/guides/handlers.md: its project runs as the page says, and its tables have the names that the schemas have. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "@loopledger/composition/project/project";
import { checkKinds, defaultSeconds, makerKinds, target, toolKinds } from "@loopledger/handlers/config/definitions";
import { handlersConfig } from "@loopledger/handlers/config/handlers-config";
import { checkTask, makerTask } from "@loopledger/handlers/inline/task";
import { readResult } from "@loopledger/handlers/results/maker-result";
import { readValidation } from "@loopledger/handlers/results/validation";
import { approvalTrigger, boundsOf, goal, leaf } from "@loopledger/shared/core/events/goal";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Workshop } from "../cli/workshop.ts";
import { pageOf } from "./page.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 });

const root = join(import.meta.dirname, "../..");
const page = pageOf(join(root, "docs/guides/handlers.md"));
const keys = (schema: unknown): string[] => Object.keys((schema as { readonly shape: object }).shape).sort();
const inside = (schema: { unwrap(): unknown }): string[] => keys(schema.unwrap());

describe("the project of the page", () => {
  const shop = new Workshop();
  beforeAll(() => {
    for (const [name, text] of page.files) shop.write(name, text);
  });
  afterAll(() => shop.close());

  test("runs as the page says: a call that a person lets through is made once, and its maker runs twice", async () => {
    expect([...page.files.keys()]).toEqual(["loopledger.config.ts", "goals/announce.yaml"]);
    let checkpoint = "CHECKPOINT";
    for (const { words, exit } of page.commands) {
      const { code, out, err } = await shop.run(...words.map((word) => (word === "CHECKPOINT" ? checkpoint : word)));
      expect([words.join(" "), code], `${out}${err}`).toEqual([words.join(" "), exit]);
      checkpoint = /\bcp-[\w-]+/.exec(out)?.[0] ?? checkpoint;
    }
    expect(page.commands.map(({ exit }) => exit)).toEqual([0, 3, 0, 0, 0]);
    expect(shop.lines("runs.log")).toEqual(["build 1, run 1", "build 1, run 2"]);
    expect(globSync("outbox/*", { cwd: shop.folder })).toEqual(["outbox/announce%3A1.4.0.json"]);
    const types = (await shop.records("announce-1.4.0")).map(({ type }) => type);
    expect(types.filter((type) => ["step", "tool_requested", "built"].includes(type))).toEqual(["step", "tool_requested", "built"]);
  });
});

describe("the tables of the page", () => {
  const { names, row } = page;
  test("name every key of a config", () => {
    expect(names("The config")).toEqual([...keys(handlersConfig), "prepare"].sort());
    const prepare = { exec: ["true"], timeoutSeconds: 1 };
    expect(readConfig("/c/loopledger.config.json", { prepare }).prepare).toEqual(prepare);
  });
  test.each([["maker", makerKinds], ["check", checkKinds], ["tool", toolKinds]] as const)("name every option of a %s", (what, kinds) => {
    const own = names(`Options of a ${what}`);
    const ofExec = own.filter((name) => row(`Options of a ${what}`, name).includes("`exec` only"));
    const ofAll = own.filter((name) => !ofExec.includes(name));
    expect([...names("Options of exec"), ...own, "timeoutSeconds"].filter(unique).sort()).toEqual(keys(kinds.exec));
    expect([...names("Options of http"), ...ofAll].sort()).toEqual(keys(kinds.http));
    expect([...names("Options of fn"), ...ofAll].sort()).toEqual(keys(kinds.fn));
  });
  test("say what an http target has, and the limits that hold where nothing is said", () => {
    for (const key of keys(target)) expect(row("Options of http", "http")).toContain(`\`${key}\``);
    for (const what of ["maker", "check", "tool"] as const) expect(row(`Options of a ${what}`, "timeoutSeconds")).toContain(`(${defaultSeconds[what]})`);
    expect(row("Options of a maker", "idleSeconds")).toContain(`(${defaultSeconds.idle})`);
    expect(row("Options of a tool", "callWindowSeconds")).toContain(`${defaultSeconds.callWindow} and \`timeoutSeconds\` + ${defaultSeconds.callMargin}`);
  });

  test("name every field of a result: each is read, and refused where it is of the wrong kind", () => {
    const wrong = (name: string): boolean => !readResult({ [name]: name === "usage" || name === "mutations" ? "x" : { not: "this" } }).ok;
    expect(names("Fields of a result").filter((name) => !wrong(name))).toEqual([]);
    expect(names("Fields of a result")).toEqual(namesIn("packages/handlers/src/results/maker-result.ts", "const resultFile = z.object({"));
  });
  test("name every field of a validation, and which of them are needed", () => {
    const named = names("Fields of a validation");
    expect(named).toEqual(namesIn("packages/handlers/src/results/validation.ts", "const validation = z.object({"));
    const whole = { verdict: "FAIL", next_steps: ["x"] };
    expect(readValidation(whole).verdict).toBe("FAIL");
    const needed = named.filter((name) => row("Fields of a validation", name).includes("| yes |"));
    expect(needed).toEqual(["next_steps", "verdict"]);
    for (const name of needed) expect(readValidation({ ...whole, [name]: null }).verdict).toBe("INCONCLUSIVE");
  });
  test("name everything that a function is handed", () => {
    const task = { sessionId: "s", iteration: 1, leaf: "goal", attempt: 1, task: "t", epoch: 1, idempotencyKey: "k", input: {}, steps: {} };
    const surroundings = { gate: { api: {} }, told: { signal: new AbortController().signal } } as never;
    const [maker, check] = [makerTask(task as never, surroundings), checkTask(task as never, surroundings)].map((one) => Object.keys(one).sort());
    const of = (role: string): string[] => names("The argument of fn").filter((name) => new RegExp(`\\| (both|${role}) \\|`).test(row("The argument of fn", name)));
    expect(of("maker")).toEqual(maker);
    expect(of("check")).toEqual(check);
  });
  test("name every variable that a program gets", () => {
    const sources = globSync("packages/handlers/src/exec/*.ts", { cwd: root }).filter((path) => !path.endsWith(".test.ts")).map((path) => readFileSync(join(root, path), "utf8"));
    const said = sources.flatMap((text) => [...text.matchAll(/\b(LOOPLEDGER_[A-Z_]*[A-Z])\b/g)].map(([name]) => name));
    expect(names("Variables of exec")).toEqual(said.filter(unique).sort());
  });

  test("name every field of a goal, of its budget, its policy and its leaves", () => {
    expect(names("A goal").filter((name) => !/^\{/.test(name))).toEqual(keys(goal));
    expect(names("Fields of a leaf")).toEqual(keys(leaf));
    expect(names("Fields of budget")).toEqual(inside(goal.shape.budget));
    expect(names("Fields of policy").filter((name) => !/^\{/.test(name))).toEqual(inside(goal.shape.policy));
    const entries = approvalTrigger.options.map((option) => keys(option).find((key) => key !== "expiresSeconds")).sort();
    expect(names("Fields of policy").flatMap((name) => /^\{ (\w+):/.exec(name)?.[1] ?? []).filter(unique).sort()).toEqual(entries);
  });
  test("have the bounds that a goal without any gets", () => {
    const bounds = boundsOf({ goal: "g", maker: "m", check: "c" });
    for (const name of ["iterations", "wallSeconds", "costUsd", "tokens"] as const) expect(row("Fields of budget", name)).toContain(`(${bounds[name] ?? "none"})`);
    expect(row("Fields of policy", "retry")).toContain(`(${bounds.retryAttempts})`);
    expect(row("Fields of policy", "breaker")).toContain(`(${bounds.breakerSame})`);
    for (const [name, value] of Object.entries(bounds.children)) expect(row("Fields of policy", "children")).toContain(`\`${name}\` (${value})`);
    for (const name of ["fourEyes", "failureFirst"] as const) expect(row("Fields of policy", name)).toContain(`(\`${bounds[name]}\`)`);
  });
});

function unique(name: string, index: number, all: readonly string[]): boolean {
  return all.indexOf(name) === index;
}
/** The keys of an object in a source file, from the line that opens it on. */
function namesIn(file: string, opening: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  const body = text.slice(text.indexOf(opening), text.indexOf("\n});", text.indexOf(opening)));
  return [...body.matchAll(/^ {2}(\w+)[:,]/gm)].map(([, name = ""]) => name).sort();
}
