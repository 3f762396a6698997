import { expect, test } from "vitest";
import { workbench } from "../../test/support.ts";
import { exec, fn, http } from "../builders.ts";
import type { HandlersConfigInput } from "../builders.ts";
import { HandlersConfigInvalid, parseHandlersConfig } from "./handlers-config.ts";

function faultsOf(config: unknown): readonly string[] {
  try {
    parseHandlersConfig(config);
  } catch (error) {
    if (error instanceof HandlersConfigInvalid) return error.faults;
    throw error;
  }
  return [];
}

test("all faults of a config are told at once, each with its place and the nearest known name", () => {
  expect(faultsOf({
    maker: {},
    makers: {
      a: { exec: ["x"], timeoutSecond: 5 }, b: { exce: ["x"] }, c: { exec: "x y" }, d: 7, e: { exec: ["x"], http: { url: "http://h" } },
      f: { exec: ["x\0y"] }, g: { exec: ["x"], env: ["LOOPLEDGER_STEP_TOKEN"] }, h: { exec: [] }, i: { exec: ["a", "b"], shell: true }, j: { exec: ["x"], pin: ["y"] },
    },
    checks: { a: { http: { url: "ftp://h", header: {} } }, b: { fn: "text" } },
    tools: {
      a: { http: { url: "http://h" }, contract: "lookup" }, b: { http: { url: "http://h" }, lookup: { url: "http://h/status" } },
      c: { exec: ["x"], contract: "safe" }, d: { exec: ["x"], timeoutSeconds: 60, callWindowSeconds: 60 },
    },
  })).toEqual([
    "makers.a: unknown key timeoutSecond; did you mean timeoutSeconds?",
    "makers.b: a maker has exactly one of exec, http and fn; did you mean exec?",
    "makers.c: exec is a list of words; with shell: true it is one line for /bin/sh",
    "makers.d: a maker is an object with exec, http or fn",
    "makers.e: a maker has exactly one of exec, http and fn",
    "makers.f.exec.0: holds a NUL",
    "makers.g.env.0: names that start with LOOPLEDGER_ are set by the engine",
    "makers.h.exec: Too small: expected array to have >=1 items",
    "makers.i: with shell: true exec is one line for /bin/sh, not a list of words",
    "makers.j: unknown key pin",
    "checks.a.http.url: must be an http or https address",
    "checks.a.http: unknown key header; did you mean headers?",
    "checks.b.fn: must be a function",
    "tools.a: contract lookup needs lookup: where to ask what became of a key",
    "tools.b.lookup.url: needs {key}: the place where the key stands",
    'tools.c.contract: Invalid option: expected one of "none"|"idempotent"|"lookup"|"unsafe"',
    "tools.d: callWindowSeconds (60) must be longer than timeoutSeconds (60): the window holds the whole call",
    "unknown key maker; did you mean makers?",
  ]);
});

test("the builders make what one writes by hand", () => {
  const call = () => ({ ok: true });
  expect(exec(["npm", "test"], { pin: ["test/**"], timeoutSeconds: 5 })).toEqual({ exec: ["npm", "test"], pin: ["test/**"], timeoutSeconds: 5 });
  expect(http({ url: "http://h/x" }, { contract: "idempotent" })).toEqual({ http: { url: "http://h/x" }, contract: "idempotent" });
  expect(fn(call, { contract: "none" })).toEqual({ fn: call, contract: "none" });
});

test("a tool has the safe settings where the operator names none", async () => {
  const bench = await workbench();
  const handlers = bench.make({ tools: { plain: { exec: ["x"] }, reader: { exec: ["x"], contract: "none" }, slow: { exec: ["x"], timeoutSeconds: 300, mutates: false } } });
  expect(handlers.tool("plain")).toMatchObject({ contract: "unsafe", fences: false, callWindowSeconds: 60, timeoutSeconds: 30, mutates: true, approval: null, key: null });
  expect(handlers.tool("reader")).toMatchObject({ contract: "none", mutates: false });
  expect(handlers.tool("slow")).toMatchObject({ timeoutSeconds: 300, callWindowSeconds: 330, mutates: false });
  expect(handlers.toolNames()).toEqual(["plain", "reader", "slow"]);
  expect([handlers.tool("constructor"), handlers.maker("toString"), handlers.check("plain")]).toEqual([null, null, null]);
});

test("makers and checks have the default limits and their own", async () => {
  const bench = await workbench();
  const handlers = bench.make({ makers: { a: { exec: ["x"] }, b: { http: { url: "http://h", timeoutSeconds: 7 }, effects: "external" } }, checks: { c: { exec: ["x"] } } });
  expect(handlers.maker("a")).toMatchObject({ timeoutSeconds: 3600, effects: "workspace" });
  expect(handlers.maker("b")).toMatchObject({ timeoutSeconds: 7, effects: "external" });
  expect(handlers.check("c")?.timeoutSeconds).toBe(600);
});

test("a principal is the name and a digest of the definition, whatever the order of its keys", async () => {
  const bench = await workbench();
  const principal = (definition: NonNullable<HandlersConfigInput["makers"]>[string]) => bench.make({ makers: { m: definition } }).maker("m")?.principal;
  const one = principal({ exec: ["a", "b"], cwd: "x", timeoutSeconds: 5 });
  expect(one).toMatch(/^m@sha256:[0-9a-f]{64}$/);
  expect(principal({ timeoutSeconds: 5, cwd: "x", exec: ["a", "b"] })).toBe(one);
  expect(principal({ exec: ["a", "c"], cwd: "x", timeoutSeconds: 5 })).not.toBe(one);
  expect(principal({ fn: () => 1 })).toBe(principal({ fn: () => 1 }));
  expect(principal({ fn: () => 1 })).not.toBe(principal({ fn: () => 2 }));
});
