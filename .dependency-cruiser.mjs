// What may know what. The core decides and must decide the same for ever, so it knows nothing; everything
// else knows ports, and only packages/composition and the roots (a service's main.ts, packages/cli) know adapters.
// Change these rules with thought: each has a violation in test/house/negative-control.ts that must be caught.
const SHARED = "^packages/shared/src";
/** Test code may look at whatever it tests, within its own package. */
const TESTS = ["\\.test\\.ts$", "^packages/[^/]+/test/", "^services/[^/]+/test/"];
const npm = (...names) => names.map((name) => `node_modules/(\\.pnpm/)?${name}[@/]`);

const floors = [
  {
    name: "core-imports-only-core-and-zod",
    comment: "decide and evolve must give the same answer in every replay",
    from: { path: `${SHARED}/core/`, pathNot: TESTS },
    to: { pathNot: [`${SHARED}/core/`, ...npm("zod")] },
  },
  {
    name: "ports-import-only-core",
    from: { path: `${SHARED}/ports/`, pathNot: TESTS },
    to: { pathNot: [`${SHARED}/(core|ports)/`] },
  },
  {
    name: "adapters-do-not-know-each-other",
    from: { path: `${SHARED}/adapters/([^/]+)/`, pathNot: TESTS },
    to: { path: `${SHARED}/adapters/`, pathNot: `${SHARED}/adapters/$1/` },
  },
  {
    name: "adapters-stand-on-ports-and-core",
    from: { path: `${SHARED}/adapters/`, pathNot: TESTS },
    to: { path: ["^packages/", "^services/"], pathNot: `${SHARED}/(core|ports|adapters)/` },
  },
  {
    name: "runtime-knows-no-adapter",
    from: { path: `${SHARED}/runtime/`, pathNot: TESTS },
    to: { path: ["^packages/", "^services/"], pathNot: `${SHARED}/(core|ports|runtime)/` },
  },
];

const packages = [
  {
    name: "handlers-know-no-adapter",
    from: { path: "^packages/handlers/", pathNot: TESTS },
    to: { path: ["^packages/", "^services/"], pathNot: ["^packages/handlers/", `${SHARED}/(core|ports|runtime)/`] },
  },
  {
    name: "the-audit-is-a-second-implementation",
    comment: "a wrong fold is seen only by a judge that shares nothing with it but the schemas of the events",
    from: { path: "^packages/audit/src/", pathNot: TESTS },
    to: { path: ["^packages/", "^services/"], pathNot: ["^packages/audit/", `${SHARED}/core/(events/|(json|brand)\\.ts$)`] },
  },
  {
    name: "only-the-cli-composes-services",
    from: { path: "^packages/", pathNot: "^packages/cli/" },
    to: { path: ["^services/", "^packages/cli/"], pathNot: "^packages/cli/src/config-api\\.ts$" },
  },
  {
    name: "composition-knows-no-service",
    comment: "services stand on it in their main.ts, and the command line hands their shells in: it is told which roles there are",
    from: { path: "^packages/composition/src/" },
    to: { path: ["^services/", "^packages/(cli|audit)/"] },
  },
  {
    name: "only-roots-compose",
    comment: "what takes ports as arguments must not open them",
    from: { path: ["^packages/", "^services/"], pathNot: ["^packages/(cli|composition)/", "^services/[^/]+/src/(main|config)\\.ts$", ...TESTS] },
    to: { path: "^packages/composition/" },
  },
  {
    name: "the-cli-never-starts-a-main",
    comment: "it composes the shells itself; a main.ts reads its own environment and is a process of its own",
    from: { path: "^packages/cli/" },
    to: { path: "^services/[^/]+/src/main\\.ts$" },
  },
  {
    name: "services-are-strangers",
    from: { path: "^services/([^/]+)/" },
    to: { path: ["^services/", "^packages/cli/"], pathNot: "^services/$1/" },
  },
  {
    name: "adapters-only-from-a-composition-root",
    from: { path: "^services/[^/]+/src/", pathNot: ["^services/[^/]+/src/main\\.ts$", ...TESTS] },
    to: { path: `${SHARED}/adapters/` },
  },
  {
    name: "no-test-code-in-src",
    from: { path: ["^packages/", "^services/"], pathNot: [`${SHARED}/testing/`, ...TESTS] },
    to: { path: [`${SHARED}/testing/`, "^test/", "node_modules/(\\.pnpm/)?(vitest|fast-check)[@/]"] },
  },
  {
    name: "infra-stands-below-the-services",
    comment: "who brings up Kafka and says what topics must be knows no process that works on them",
    from: { path: "^infra/" },
    to: { path: ["^packages/", "^services/"], pathNot: `${SHARED}/(core|ports|adapters)/` },
  },
  {
    name: "kafka-client-only-in-its-adapter",
    comment: "the client is patched, and half of what it offers must not be used: one folder knows which",
    from: { pathNot: `${SHARED}/adapters/kafka/` },
    to: { path: npm("kafkajs") },
  },
  {
    name: "redis-client-only-in-its-adapter",
    comment: "left to itself the client hangs its callers: one folder knows the options under which it does not",
    from: { pathNot: `${SHARED}/adapters/redis/` },
    to: { path: npm("ioredis", "redlock") },
  },
  {
    name: "registry-client-only-in-its-adapter",
    comment: "it has no deadline and tells a refused connection as an answer",
    from: { pathNot: `${SHARED}/adapters/registry/` },
    to: { path: npm("@kafkajs/confluent-schema-registry", "@kafkajs\\+confluent-schema-registry") },
  },
  {
    name: "http-server-only-in-the-gateway",
    from: { pathNot: "^services/gateway/" },
    to: { path: npm("fastify", "fastify-type-provider-zod") },
  },
];

const graph = [
  { name: "no-circular", from: {}, to: { circular: true } },
  { name: "not-to-unresolvable", from: {}, to: { couldNotResolve: true } },
];

export default {
  forbidden: [...floors, ...packages, ...graph].map((rule) => ({ severity: "error", ...rule })),
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    combinedDependencies: false,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
      extensions: [".ts", ".js", ".mjs", ".json"],
    },
  },
};
