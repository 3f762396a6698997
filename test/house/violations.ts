import type { Violation } from "./violation.ts";

/** Targets of the violations below, so that the control does not lean on what the packages happen to hold. */
export const targets: Readonly<Record<string, string>> = {
  "packages/shared/src/adapters/left-control/index.ts": "export const left = 1;\n",
  "packages/shared/src/adapters/right-control/index.ts": "export const right = 1;\n",
  "services/scheduler/src/control-target.ts": "export const owed = 1;\n",
  "packages/composition/src/control-target.ts": "export const done = 1;\n",
  "packages/shared/src/testing/control-target.ts": "export const given = 1;\n",
};

const CORE = "packages/shared/src/core";
const PORTS = "packages/shared/src/ports";
const RUNTIME = "packages/shared/src/runtime";
const WORKER = "services/worker/src";
const HANDLERS = "packages/handlers/src";
const CLI = "packages/cli/src";

const layering: readonly Violation[] = [
  {
    what: "the core imports a client of the outside world",
    tool: "deps",
    rule: "core-imports-only-core-and-zod",
    path: `${CORE}/control-client.ts`,
    code: `import { pino } from "pino";\nexport const log = pino;\n`,
  },
  {
    what: "the core imports node:fs",
    tool: "deps",
    rule: "core-imports-only-core-and-zod",
    path: `${CORE}/control-files.ts`,
    code: `import { readFileSync } from "node:fs";\nexport const read = readFileSync;\n`,
  },
  {
    what: "the core imports an adapter",
    tool: "deps",
    rule: "core-imports-only-core-and-zod",
    path: `${CORE}/control-adapter.ts`,
    code: `import { left } from "../adapters/left-control/index.ts";\nexport const copy = left;\n`,
  },
  {
    what: "a port imports an adapter",
    tool: "deps",
    rule: "ports-import-only-core",
    path: `${PORTS}/control-adapter.ts`,
    code: `import { left } from "../adapters/left-control/index.ts";\nexport const copy = left;\n`,
  },
  {
    what: "one adapter imports another",
    tool: "deps",
    rule: "adapters-do-not-know-each-other",
    path: "packages/shared/src/adapters/left-control/neighbour.ts",
    code: `import { right } from "../right-control/index.ts";\nexport const copy = right;\n`,
  },
  {
    what: "the runtime imports an adapter",
    tool: "deps",
    rule: "runtime-knows-no-adapter",
    path: `${RUNTIME}/control-adapter.ts`,
    code: `import { left } from "../adapters/left-control/index.ts";\nexport const copy = left;\n`,
  },
  {
    what: "a service's logic imports an adapter",
    tool: "deps",
    rule: "adapters-only-from-a-composition-root",
    path: `${WORKER}/control-adapter.ts`,
    code: `import { left } from "../../../packages/shared/src/adapters/left-control/index.ts";\nexport const copy = left;\n`,
  },
  {
    what: "the launcher imports a service",
    tool: "deps",
    rule: "infra-stands-below-the-services",
    path: "infra/launcher/control-service.ts",
    code: `import { owed } from "../../services/scheduler/src/control-target.ts";\nexport const copy = owed;\n`,
  },
  {
    what: "a service imports another service",
    tool: "deps",
    rule: "services-are-strangers",
    path: `${WORKER}/control-stranger.ts`,
    code: `import { owed } from "../../scheduler/src/control-target.ts";\nexport const copy = owed;\n`,
  },
  {
    what: "a service imports test code",
    tool: "deps",
    rule: "no-test-code-in-src",
    path: `${WORKER}/control-test-code.ts`,
    code: `import { given } from "../../../packages/shared/src/testing/control-target.ts";\nexport const copy = given;\n`,
  },
  {
    what: "packages/audit imports the fold that it judges",
    tool: "deps",
    rule: "the-audit-is-a-second-implementation",
    path: "packages/audit/src/control-fold.ts",
    code: `import { evolve } from "../../shared/src/core/session/evolve.ts";\nexport const copy = evolve;\n`,
  },
  {
    what: "packages/handlers imports an adapter",
    tool: "deps",
    rule: "handlers-know-no-adapter",
    path: `${HANDLERS}/control-adapter.ts`,
    code: `import { left } from "../../shared/src/adapters/left-control/index.ts";\nexport const copy = left;\n`,
  },
  {
    what: "packages/handlers imports a service",
    tool: "deps",
    rule: "only-the-cli-composes-services",
    path: `${HANDLERS}/control-service.ts`,
    code: `import { owed } from "../../../services/scheduler/src/control-target.ts";\nexport const copy = owed;\n`,
  },
  {
    what: "packages/composition imports a service",
    tool: "deps",
    rule: "composition-knows-no-service",
    path: "packages/composition/src/control-service.ts",
    code: `import { owed } from "../../../services/scheduler/src/control-target.ts";\nexport const copy = owed;\n`,
  },
  {
    what: "a service's logic opens ports through the composition",
    tool: "deps",
    rule: "only-roots-compose",
    path: `${WORKER}/control-composing.ts`,
    code: `import { done } from "../../../packages/composition/src/control-target.ts";\nexport const copy = done;\n`,
  },
  {
    what: "packages/cli imports test code",
    tool: "deps",
    rule: "no-test-code-in-src",
    path: `${CLI}/control-test-code.ts`,
    code: `import { given } from "../../shared/src/testing/control-target.ts";\nexport const copy = given;\n`,
  },
  {
    what: "something beside its adapter uses the Redis client",
    tool: "deps",
    rule: "redis-client-only-in-its-adapter",
    path: `${RUNTIME}/control-redis.ts`,
    code: `import { Redis } from "ioredis";\nexport const client = Redis;\n`,
  },
  {
    what: "something beside its adapter takes locks on Redis",
    tool: "deps",
    rule: "redis-client-only-in-its-adapter",
    path: `${RUNTIME}/control-redlock.ts`,
    code: `import Redlock from "redlock";\nexport const locks = Redlock;\n`,
  },
  {
    what: "something beside its adapter uses the schema registry's client",
    tool: "deps",
    rule: "registry-client-only-in-its-adapter",
    path: `${RUNTIME}/control-registry.ts`,
    code: `import { SchemaRegistry } from "@kafkajs/confluent-schema-registry";\nexport const client = SchemaRegistry;\n`,
  },
  {
    what: "a service other than the gateway opens an HTTP server of its own",
    tool: "deps",
    rule: "http-server-only-in-the-gateway",
    path: `${WORKER}/control-server.ts`,
    code: `import fastify from "../../gateway/node_modules/fastify/fastify.js";\nexport const server = fastify;\n`,
  },
  {
    what: "an adapter other than Kafka's imports the Kafka client",
    tool: "deps",
    rule: "kafka-client-only-in-its-adapter",
    path: "packages/shared/src/adapters/left-control/client.ts",
    code: `import kafkajs from "kafkajs";\nexport const client = kafkajs;\n`,
  },
  {
    what: "two files import each other",
    tool: "deps",
    rule: "no-circular",
    path: `${WORKER}/control-circle.ts`,
    code: `import { half } from "./control-circle-half.ts";\nexport const circle = (): number => half();\n`,
  },
  {
    what: "a package imports what its package.json does not name",
    tool: "boundaries",
    rule: "@loopledger/scheduler",
    path: `${WORKER}/control-undeclared.ts`,
    code: `import { owed } from "@loopledger/scheduler/control-target";\nexport const copy = owed;\n`,
  },
];

const purity: readonly Violation[] = [
  {
    what: "the core sets a timer",
    tool: "purity",
    rule: "setTimeout",
    path: `${CORE}/control-timer.ts`,
    code: "export const later = (): void => { setTimeout(() => undefined, 1); };\n",
  },
  {
    what: "the core touches the process",
    tool: "purity",
    rule: "process",
    path: `${CORE}/control-process.ts`,
    code: "export const host = (): unknown => process;\n",
  },
  {
    what: "a port names a type of Node",
    tool: "purity",
    rule: "Buffer",
    path: `${PORTS}/control-node-type.ts`,
    code: "export interface ControlPort { readonly bytes: Buffer }\n",
  },
  {
    what: "the core reads the clock",
    tool: "lint",
    rule: "lint/style/noRestrictedGlobals",
    path: `${CORE}/control-clock.ts`,
    code: "export const now = (): number => Date.now();\n",
  },
  {
    what: "the core rolls dice",
    tool: "lint",
    rule: "plugin",
    path: `${CORE}/control-dice.ts`,
    code: "export const dice = (): number => Math.random();\n",
  },
];

const habits: readonly Violation[] = [
  {
    what: "a service names an adapter by its public path",
    tool: "lint",
    rule: "lint/style/noRestrictedImports",
    path: `${WORKER}/control-adapter-name.ts`,
    code: `import { openLedger } from "@loopledger/shared/sqlite";\nexport const open = openLedger;\n`,
  },
  {
    what: "the environment is read outside the edge",
    tool: "lint",
    rule: "lint/style/noProcessEnv",
    path: `${WORKER}/control-environment.ts`,
    code: `export const setting = process.env["CONTROL"];\n`,
  },
  {
    what: "a promise floats",
    tool: "lint",
    rule: "lint/nursery/noFloatingPromises",
    path: `${WORKER}/control-promise.ts`,
    code: "const work = async (): Promise<number> => 1;\nexport function start(): void {\n  work();\n}\n",
  },
  {
    what: "a switch forgets a case of a union",
    tool: "lint",
    rule: "lint/nursery/useExhaustiveSwitchCases",
    path: `${WORKER}/control-switch.ts`,
    code: `export function pick(key: "a" | "b"): number {\n  switch (key) {\n    case "a":\n      return 1;\n  }\n  return 2;\n}\n`,
  },
  {
    what: "a service writes to the console",
    tool: "lint",
    rule: "lint/suspicious/noConsole",
    path: `${WORKER}/control-console.ts`,
    code: `export function tell(): void {\n  console.log("done");\n}\n`,
  },
  {
    what: "source uses syntax that cannot be stripped",
    tool: "types",
    rule: "TS1294",
    path: `${WORKER}/control-syntax.ts`,
    code: "export enum Colour { red }\n",
  },
  {
    what: "a test waits on the clock",
    tool: "tidy",
    rule: "no-clock-waits",
    path: `${WORKER}/control-wait.test.ts`,
    code: "await new Promise((resolve) => setTimeout(resolve, 50));\n",
  },
  {
    what: "a test is left out of the run",
    tool: "tidy",
    rule: "every-test-runs",
    path: `${WORKER}/control-left-out.test.ts`,
    code: `import { test } from "vitest";\ntest.skip("something", () => undefined);\n`,
  },
  {
    what: "a function takes four parameters",
    tool: "tidy",
    rule: "parameters",
    path: `${WORKER}/control-parameters.ts`,
    code: "export const sum = (a: number, b: number, c: number, d: number): number => a + b + c + d;\n",
  },
  {
    what: "nobody imports what a file exports",
    tool: "tidy",
    rule: "exports-are-imported",
    path: `${WORKER}/control-export.ts`,
    code: "export const unheard = 1;\n",
  },
];

export const violations: readonly Violation[] = [...layering, ...purity, ...habits];

/** The other half of the circle. */
export const companions: Readonly<Record<string, string>> = {
  [`${WORKER}/control-circle-half.ts`]: `import { circle } from "./control-circle.ts";\nexport const half = (): number => circle();\n`,
};
