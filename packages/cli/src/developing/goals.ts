/** The goal files of a project: `goals/*.yaml`, `.yml` and `.json`, in the order of their names. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Goal } from "@loopledger/shared/core/events/goal";
import { missingHandlers } from "@loopledger/composition/project/known-handlers";
import type { Project } from "@loopledger/composition/project/project";
import { UsageError } from "../errors.ts";
import { readGoalFile } from "../goal-file.ts";

export interface ProjectGoal {
  /** Relative to the project. */
  readonly file: string;
  readonly goal: Goal;
}

/** Throws `invalid_goal` with the mistakes of every file, and of every name of a handler that the config does not have. */
export async function readGoals(project: Project): Promise<ProjectGoal[]> {
  const folder = join(project.folder, "goals");
  const names = (await readdir(folder).catch(() => [])).filter((name) => /\.(ya?ml|json)$/.test(name)).sort();
  const goals: ProjectGoal[] = [];
  const faults: string[] = [];
  for (const name of names) {
    try {
      const goal = await readGoalFile(join(folder, name));
      faults.push(...missingHandlers(goal, project).map((fault) => `goals/${name}: ${fault}`));
      goals.push({ file: `goals/${name}`, goal });
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      faults.push(...(error.faults.length > 0 ? error.faults : [error.message]).map((fault) => `goals/${name}: ${fault}`));
    }
  }
  if (faults.length === 0) return goals;
  throw new UsageError(`The goals of ${project.folder} have mistakes.`, { code: "invalid_goal", faults, next: "Mend what is named; `loopledger validate FILE` checks one file." });
}
