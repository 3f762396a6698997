/** A schema registry on loopback: Apicurio where a Java of at least 21 is found, else this folder's development registry. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { mavenParts } from "./cache.ts";
import { findJava, findOnPath, type Variables } from "./java.ts";
import { startDetached, waitReady } from "./part-process.ts";
import type { ProcessIdentity } from "./process-identity.ts";

export interface RegistryOptions {
  readonly folder: string;
  readonly port: number;
  readonly variables: Variables;
  readonly tell: (text: string) => void;
  /** Default: Apicurio where its Java is found. */
  readonly kind?: RegistryKind;
}
export type RegistryKind = "apicurio" | "development";

const pom = join(import.meta.dirname, "..", "registry", "pom.xml");
const program = join(import.meta.dirname, "..", "registry", "serve.ts");
const javaMajorMin = 21;

/** Which one is started here. */
export async function registryKind(variables: Variables): Promise<RegistryKind> {
  return findOnPath("mvn", variables) !== null && (await findJava(javaMajorMin, variables)) !== null ? "apicurio" : "development";
}

export function registryUrl(port: number, kind: RegistryKind): string {
  return kind === "apicurio" ? `http://127.0.0.1:${port}/apis/ccompat/v7` : `http://127.0.0.1:${port}`;
}

export async function startRegistry({ folder, port, variables, tell, kind }: RegistryOptions): Promise<ProcessIdentity> {
  const data = join(folder, "registry");
  mkdirSync(data, { recursive: true });
  const chosen = kind ?? (await registryKind(variables));
  const log = registryLog(folder);
  if (chosen === "development") {
    return startDetached({ program: process.execPath, args: [program, "--port", String(port), "--file", join(data, "registry.db")], folder, variables, log });
  }
  const java = await findJava(javaMajorMin, variables);
  if (java === null) throw new Error("There is no Java for it.");
  const jars = await mavenParts(pom, "unpack-dependencies", { name: "apicurio-registry", variables, tell });
  const args = [
    "-Xms64m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dquarkus.http.host=127.0.0.1", `-Dquarkus.http.port=${port}`,
    // Its second, unasked-for listener would stand on every address at a fixed port.
    "-Dquarkus.management.host=127.0.0.1", "-Dquarkus.management.port=0",
    `-Dapicurio.datasource.url=jdbc:h2:file:${join(data, "apicurio")}`, "-jar", join(jars, "quarkus-run.jar"),
  ];
  return startDetached({ program: java.path, args, folder, variables, log });
}

function registryLog(folder: string): string {
  return join(folder, "registry.log");
}

export function waitRegistryReady({ folder, url, process }: { readonly folder: string; readonly url: string; readonly process: ProcessIdentity }): Promise<void> {
  return waitReady({
    name: "registry", process, log: registryLog(folder),
    isReady: async () => (await fetch(`${url}/subjects`, { signal: AbortSignal.timeout(5_000) })).ok,
  });
}
