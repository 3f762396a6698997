import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { makeProgram } from "loopledger/program";
import { readDeployment } from "@loopledger/composition/settings/deployment";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

interface Service {
  readonly image?: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}
const compose = parse(read("infra/compose.yaml"), { merge: true }) as { readonly services: Readonly<Record<string, Service>>; readonly volumes: Readonly<Record<string, unknown>> };
const ours = Object.entries(compose.services).filter(([, { build }]) => build !== undefined);
/** `${NAME:-default}` as it stands where nothing is set. */
const filled = (text: string): string => text.replace(/\$\{[A-Z_]+:-([^}]*)\}/g, "$1");

describe("the compose file", () => {
  test("starts each role once, with words that the command takes and settings that it reads", async () => {
    const roles = ours.flatMap(([, { command = [] }]) => (command[0] === "serve" ? (command[command.indexOf("--roles") + 1] ?? "").split(",") : []));
    expect(roles.sort()).toEqual(["checker", "gateway", "intake", "projector", "scheduler", "worker"]);
    for (const [, { command = [], environment = {} }] of ours) {
      const program = await makeProgram(command, () => async () => undefined);
      await program.parseAsync(command, { from: "user" });
      const variables = Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, filled(String(value))]));
      expect(readDeployment(variables).distributed).toMatchObject({ topicPrefix: "loopledger" });
    }
  });

  test("makes the topics after the services that they lie on and before every role", () => {
    expect(Object.keys(compose.services["topics"]?.depends_on ?? {}).sort()).toEqual(["kafka", "redis", "registry"]);
    for (const [name, { depends_on }] of ours) if (name !== "topics") expect(depends_on).toEqual({ topics: { condition: "service_completed_successfully" } });
  });

  test("names files and volumes that are there, publishes on loopback only, and has the versions of the launcher", () => {
    for (const [, { build, volumes = [], ports = [] }] of Object.entries(compose.services)) {
      if (build) expect(existsSync(join(root, "infra", build.context, build.dockerfile))).toBe(true);
      for (const volume of volumes) {
        const [source = ""] = filled(volume).split(":");
        expect(source.startsWith(".") ? existsSync(join(root, "infra", source)) : source in compose.volumes).toBe(true);
      }
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
    }
    const version = (pom: string, artifact: string): string => new RegExp(`<artifactId>${artifact}</artifactId>\\s*<version>([^<]+)`).exec(read(pom))?.[1] ?? "";
    expect(compose.services["kafka"]?.image).toBe(`apache/kafka:${version("infra/kafka/pom.xml", "kafka_2.13")}`);
    expect(compose.services["registry"]?.image).toBe(`apicurio/apicurio-registry:${version("infra/registry/pom.xml", "apicurio-registry-app")}`);
  });
});

describe("the image", () => {
  test("has the checkout's pnpm and its major of Node, and starts a program that is there", () => {
    const dockerfile = read("infra/Dockerfile");
    const { packageManager } = JSON.parse(read("package.json")) as { packageManager: string };
    expect(dockerfile).toContain(`npm install --global ${packageManager}`);
    const pinned = /^ {2}node: (\d+)\./m.exec(read("pnpm-workspace.yaml"))?.[1];
    expect(/^FROM node:(\d+)-/m.exec(dockerfile)?.[1]).toBe(pinned);
    const [, program = ""] = /ENTRYPOINT \["node", "\/app\/([^"]+)"\]/.exec(dockerfile) ?? [];
    expect(existsSync(join(root, program))).toBe(true);
  });

  test("leaves out what only a checkout has, and nothing that an install or a start needs", () => {
    const left = read("infra/Dockerfile.dockerignore").split("\n").filter((line) => line !== "");
    expect(left).toEqual(expect.arrayContaining(["**/node_modules", "**/.cache", "**/.loopledger", ".git"]));
    for (const needed of ["package.json", "pnpm-lock.yaml", "pnpm-workspace.yaml", "patches", "packages", "services", "infra"]) expect(left).not.toContain(needed);
  });
});
