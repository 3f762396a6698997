/** Every command of the program. A module is loaded when its command is typed, so that a fast command loads little. */
import type { CommandEntry } from "./command.ts";
import { readingCommands } from "./reading/command-list.ts";

const workingCommands: readonly CommandEntry[] = [
  { name: "run", summary: "a goal in this one process until it ends or waits", load: () => import("./commands/run.ts") },
];

export const commandList: readonly CommandEntry[] = [...workingCommands, ...readingCommands];
