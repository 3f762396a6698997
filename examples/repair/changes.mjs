import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";

/** @typedef {{ file: string, line: number, before: string[], after: string[] }} Change one stretch of lines; `line` counts from 1 */

/**
 * What the workspace has that its base had not: for each file the stretch between the first and the last line that differ.
 * Needs no git, so that it says the same everywhere.
 * @param {string} base @param {string} workspace @returns {Change[]}
 */
export function changes(base, workspace) {
  const files = new Set([...listed(base), ...listed(workspace)]);
  return [...files].sort().flatMap((file) => {
    const before = lines(join(base, file));
    const after = lines(join(workspace, file));
    const same = (a, b) => a !== undefined && a === b;
    let head = 0;
    while (same(before[head], after[head])) head += 1;
    if (head === before.length && head === after.length) return [];
    let tail = 0;
    const most = Math.min(before.length, after.length) - head;
    while (tail < most && same(before.at(-1 - tail), after.at(-1 - tail))) tail += 1;
    return [{ file, line: head + 1, before: before.slice(head, before.length - tail), after: after.slice(head, after.length - tail) }];
  });
}

/** A short name for a set of changes: equal changes have equal names. */
export function nameOf(list) {
  return createHash("sha256").update(JSON.stringify(list)).digest("hex").slice(0, 12);
}

function listed(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath ?? entry.path, entry.name)).split(sep).join("/"))
    .filter((file) => !/^(\.git|node_modules)\//.test(file));
}

function lines(path) {
  return existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
}
