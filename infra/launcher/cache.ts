/** What is downloaded once per user: a second folder, and a second checkout, need no network. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { withLock } from "./folder-lock.ts";
import { InfraError } from "./infra-error.ts";
import { findOnPath, type Variables } from "./java.ts";
import { runProgram } from "./part-process.ts";

export function cacheFolder(variables: Variables): string {
  const base = variables["XDG_CACHE_HOME"] || join(variables["HOME"] || homedir(), ".cache");
  return join(base, "loopledger");
}

/** The folder `name` of the cache, filled by `fill` where it is not there; what was filled half is never believed. */
export async function cached(name: string, variables: Variables, fill: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(cacheFolder(variables), name);
  if (existsSync(folder)) return folder;
  mkdirSync(dirname(folder), { recursive: true });
  return withLock(`${folder}.lock`, async () => {
    if (existsSync(folder)) return folder;
    const partial = `${folder}.partial`;
    rmSync(partial, { recursive: true, force: true });
    mkdirSync(partial);
    await fill(partial);
    renameSync(partial, folder);
    return folder;
  });
}

/** The artifacts of a pom in the cache, under a name that changes with the pom. */
export function mavenParts(pom: string, goal: "copy-dependencies" | "unpack-dependencies", options: { readonly name: string; readonly variables: Variables; readonly tell: (text: string) => void }): Promise<string> {
  const digest = createHash("sha256").update(readFileSync(pom)).digest("hex").slice(0, 12);
  const { name, variables, tell } = options;
  return cached(`${name}-${digest}`, variables, async (folder) => {
    const program = findOnPath("mvn", variables);
    if (program === null) {
      throw new InfraError("maven_missing", `${name} comes from Maven Central, and there is no mvn on the PATH.`, { next: "Install Maven (Debian: apt-get install maven), or use services of your own by environment." });
    }
    tell(`fetching ${name} from Maven Central (once per user)`);
    const args = ["-q", "-B", "-C", "-f", pom, `dependency:${goal}`, `-DoutputDirectory=${folder}`, `-DmarkersDirectory=${folder}/.markers`, "-DincludeScope=runtime"];
    await runProgram({ program, args, folder, variables }, {
      code: "download_failed", problem: `Maven could not fetch ${name}.`, next: "The first start needs Maven Central: is there a network, and are a proxy and a mirror set in Maven's settings where they are needed?",
    });
  });
}
