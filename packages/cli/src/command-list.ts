/** Every command of the program. A module is loaded when its command is typed, so that a fast command loads little. */
import type { CommandEntry } from "./command.ts";
import { readingCommands } from "./reading/command-list.ts";

const workingCommands: readonly CommandEntry[] = [
  { name: "dev", summary: "a whole project in one process, with its API", load: () => import("./commands/dev.ts") },
  { name: "init", summary: "a working project", load: () => import("./commands/init.ts") },
  { name: "run", summary: "a goal in this one process until it ends or waits", load: () => import("./commands/run.ts") },
  { name: "serve", summary: "any subset of the roles, until it is told to stop", load: () => import("./commands/serve.ts") },
  { name: "advance", summary: "the one cycle that is owed: for shell loops and cron", load: () => import("./commands/advance.ts") },
  { name: "validate", summary: "is this goal or config right, and what does it amount to", load: () => import("./commands/validate.ts") },
  { name: "doctor", summary: "is everything set as it must be", load: () => import("./commands/doctor.ts") },
  { name: "infra", summary: "Kafka, Redis and a registry on this machine, without Docker", load: () => import("./commands/infra.ts") },
  { name: "topics", summary: "the topics of a prefix as they must be", load: () => import("./commands/topics.ts") },
  { name: "audit", summary: "an independent judgement of a ledger and of what was done on it", load: () => import("./commands/audit.ts") },
  { name: "step", summary: "tools, steps, observations and budget, from inside a maker", load: () => import("./commands/step.ts") },
  { name: "completion", summary: "shell completion", load: () => import("./commands/completion.ts") },
];

export const commandList: readonly CommandEntry[] = [...workingCommands, ...readingCommands];
