import type { Breach } from "./sources.ts";

const KEBAB = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*$/;
/** Names that say nothing about what is inside, alone or as a part of a longer one. */
const EMPTY_NAMES = new Set(["util", "utils", "utility", "utilities", "common", "helper", "helpers", "misc"]);
const CODE = /\.(ts|mts|mjs|js|grit)$/;

function nameBreach(path: string, part: string): Breach | null {
  const at = { path, line: 1 };
  if (!KEBAB.test(part)) {
    return { ...at, rule: "kebab-case", found: `the name ${part}`, fix: "small letters, digits and hyphens" };
  }
  if (part.split(/[-.]/).some((word) => EMPTY_NAMES.has(word))) {
    return { ...at, rule: "telling-names", found: `the name ${part}`, fix: "name it after what it is about" };
  }
  return null;
}

/** Names of code files and of the folders that they stand in. */
export function nameBreaches(paths: readonly string[]): Breach[] {
  const seen = new Set<string>();
  return paths
    .filter((path) => CODE.test(path))
    .flatMap((path) => {
      const parts = path.split("/");
      return parts.flatMap((part, depth) => {
        const prefix = parts.slice(0, depth + 1).join("/");
        if (seen.has(prefix)) return [];
        seen.add(prefix);
        return nameBreach(prefix, part) ?? [];
      });
    });
}
