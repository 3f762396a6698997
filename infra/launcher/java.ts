/** A Java that is new enough: JAVA_HOME, PATH, then where systems put theirs. */
import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

export type Variables = Readonly<Record<string, string | undefined>>;

export interface Java {
  readonly path: string;
  readonly major: number;
  /** The whole version, which names what was made by this very Java. */
  readonly version: string;
}

const homes = ["/usr/lib/jvm", "/Library/Java/JavaVirtualMachines", "/opt/java", "/opt/homebrew/opt"];

/** The full path of a program on PATH; null where it is not there. */
export function findOnPath(program: string, variables: Variables): string | null {
  const folders = (variables["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path)) ?? null;
}

function candidates(variables: Variables): string[] {
  const home = variables["JAVA_HOME"];
  const onPath = findOnPath("java", variables);
  const installed = homes.filter((folder) => existsSync(folder)).flatMap((folder) =>
    readdirSync(folder).sort().reverse().flatMap((name) => [join(folder, name, "bin", "java"), join(folder, name, "Contents", "Home", "bin", "java")]));
  return [...(home ? [join(home, "bin", "java")] : []), ...(onPath === null ? [] : [onPath]), ...installed].filter((path) => existsSync(path));
}

async function look(path: string): Promise<Java | null> {
  try {
    const { stderr, stdout } = await promisify(execFile)(path, ["-version"]);
    const version = /version "([^"]+)"/.exec(stderr + stdout)?.[1];
    return version === undefined ? null : { path, version, major: Number(version.split(/[.+-]/)[0]) };
  } catch {
    return null;
  }
}

/** The first Java of at least `majorMin`; null where there is none. */
export async function findJava(majorMin: number, variables: Variables): Promise<Java | null> {
  for (const path of new Set(candidates(variables))) {
    const java = await look(path);
    if (java !== null && java.major >= majorMin) return java;
  }
  return null;
}
