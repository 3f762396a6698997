/** The part of a project's manifest that says what a well-known test command does. */
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";

type Part = readonly [name: string, content: string];

/** For `npm test` the script with its pre and post; for other tools the files that configure them. Empty for a command that none defines. */
export async function manifestParts(words: readonly string[], folder: string): Promise<Part[]> {
  const [program = "", ...rest] = words;
  const name = basename(program);
  switch (name) {
    case "npm":
    case "pnpm":
    case "yarn":
    case "bun":
      return scriptParts(rest, folder, name);
    case "make":
    case "gmake":
      return firstOf(["GNUmakefile", "makefile", "Makefile"], folder);
    case "just":
      return firstOf(["justfile", "Justfile", ".justfile"], folder);
    case "pytest":
    case "py.test":
      return pythonParts(folder);
    case "tox":
      return presentOf(["tox.ini", "pyproject.toml", "setup.cfg"], folder);
    case "go":
      return presentOf(["go.mod"], folder);
    case "cargo":
      return presentOf(["Cargo.toml"], folder);
    case "mvn":
    case "mvnw":
      return presentOf(["pom.xml"], folder);
    case "gradle":
    case "gradlew":
      return presentOf(["build.gradle", "build.gradle.kts"], folder);
    case "deno":
      return presentOf(["deno.json", "deno.jsonc"], folder);
    case "python":
    case "python3":
    case "uv":
    case "poetry":
      return rest.includes("pytest") ? pythonParts(folder) : [];
    case "npx":
    case "pnpx":
      return [];
    default:
      return [];
  }
}

const pythonParts = (folder: string) => presentOf(["pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg", "conftest.py"], folder);

async function scriptParts(words: readonly string[], folder: string, manager: string): Promise<Part[]> {
  const script = scriptName(words, manager);
  if (script === null) return [];
  let scripts: Record<string, unknown>;
  try {
    const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as { scripts?: Record<string, unknown> };
    scripts = manifest.scripts ?? {};
  } catch {
    return [];
  }
  return [`pre${script}`, script, `post${script}`]
    .filter((name) => typeof scripts[name] === "string")
    .map((name) => [`package.json scripts.${name}`, scripts[name] as string]);
}

/** The script that the words run: `test`, `run check`, `t`; null where they run none. */
function scriptName(words: readonly string[], manager: string): string | null {
  const plain = words.filter((word) => !word.startsWith("-"));
  const [verb, script] = plain;
  if (verb === "test" || verb === "t" || verb === "tst") return "test";
  if (verb === "run" || verb === "run-script" || verb === "rum") return script ?? null;
  // These run a script by its bare name too.
  return manager !== "npm" && verb !== undefined ? verb : null;
}

async function presentOf(names: readonly string[], folder: string): Promise<Part[]> {
  const parts: Part[] = [];
  for (const name of names) {
    const content = await readFile(join(folder, name), "utf8").catch(() => null);
    if (content !== null) parts.push([name, content]);
  }
  return parts;
}

async function firstOf(names: readonly string[], folder: string): Promise<Part[]> {
  return (await presentOf(names, folder)).slice(0, 1);
}
