/** Every command of the program. A module is loaded when its command is typed, so that a fast command loads little. */
import type { CommandEntry } from "./command.ts";
import { readingCommands } from "./reading/command-list.ts";

const workingCommands: readonly CommandEntry[] = [
  { name: "dev", summary: "a whole project in one process, with its API", load: () => import("./commands/dev.ts") },
  { name: "run", summary: "a goal in this one process until it ends or waits", load: () => import("./commands/run.ts") },
  { name: "serve", summary: "any subset of the roles, until it is told to stop", load: () => import("./commands/serve.ts") },
];

export const commandList: readonly CommandEntry[] = [...workingCommands, ...readingCommands];
