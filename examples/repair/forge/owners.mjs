import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The processes that a folder's forge runs for. Each is a file named by its pid that holds when the process began, so that a
 * later process of the same pid is not taken for it.
 */

/** Called before the forge is looked for: one that is about to leave sees it, or is gone by then. */
export function noteOwner(folder, pid) {
  mkdirSync(join(folder, "owners"), { recursive: true });
  const part = join(folder, "owners", `.${pid}.part`);
  writeFileSync(part, beginningOf(pid) ?? "");
  renameSync(part, join(folder, "owners", String(pid)));
}

/** How many of them live; the notes of the others go. @param {string} folder */
export function countOwners(folder) {
  let living = 0;
  for (const name of namesIn(join(folder, "owners"))) {
    if (lives(folder, name)) living += 1;
    else rmSync(join(folder, "owners", name), { force: true });
  }
  return living;
}

function namesIn(folder) {
  try {
    return readdirSync(folder).filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

function lives(folder, name) {
  const pid = Number(name);
  try {
    const noted = readFileSync(join(folder, "owners", name), "utf8");
    return process.kill(pid, 0) && noted === (beginningOf(pid) ?? "");
  } catch {
    return false;
  }
}

/** Null where the system does not say. One that has ended and was not waited for yet has no beginning any more. */
function beginningOf(pid) {
  if (process.platform !== "linux") return null;
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return /^[ZX]$/.test(fields[0] ?? "") ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}
