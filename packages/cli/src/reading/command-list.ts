/** The commands that read a ledger or act on a session. */
import type { CommandEntry } from "../command.ts";

export const readingCommands: readonly CommandEntry[] = [
  { name: "ls", summary: "the sessions, newest first", load: () => import("../commands/ls.ts") },
  { name: "status", summary: "how a session stands", load: () => import("../commands/status.ts") },
  { name: "wait", summary: "until a session has ended or waits for somebody", load: () => import("../commands/wait.ts") },
  { name: "explain", summary: "what is established, why it stands still, and what to type", load: () => import("../commands/explain.ts") },
  { name: "events", summary: "the records of a session", load: () => import("../commands/events.ts") },
];
