/** The commands that read a ledger or act on a session. */
import type { CommandEntry } from "../command.ts";

export const readingCommands: readonly CommandEntry[] = [];
