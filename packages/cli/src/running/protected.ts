/** Which `--protect` of a run protects nothing: a glob that was mistyped looks like one that guards. */
import { resolve } from "node:path";
import { filesOf } from "@loopledger/handlers/pin/files";
import type { Project } from "@loopledger/composition/project/project";
import type { RunPlan } from "./plan.ts";

/** Globs that match no file of the folder that the check runs in. */
export async function matchlessGlobs({ goal, adHoc }: RunPlan, project: Project, cwd: string): Promise<string[]> {
  const check = project.handlers.checks[goal.check];
  const folder = Object.keys(adHoc.checks).length > 0 ? cwd : resolve(project.folder, check?.kind === "exec" ? (check.cwd ?? ".") : ".");
  const matchless: string[] = [];
  for (const glob of adHoc.protect) if ((await filesOf([glob], folder)).length === 0) matchless.push(glob);
  return matchless;
}
