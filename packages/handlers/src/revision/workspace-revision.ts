import { filesRevision } from "./files.ts";
import { gitRevision } from "./git.ts";

/**
 * The state of a workspace as one text: equal where nothing has changed. In git HEAD, index, working tree and untracked unignored files
 * count, else all files but `node_modules` and `.loopledger`. null where there is no such folder, or it is too large.
 * `leaveOut`: absolute folders that do not count.
 */
export async function workspaceRevision(folder: string, { leaveOut = [] }: { readonly leaveOut?: readonly string[] } = {}): Promise<string | null> {
  try {
    return (await gitRevision(folder, leaveOut)) ?? (await filesRevision(folder, leaveOut));
  } catch {
    return filesRevision(folder, leaveOut).catch(() => null);
  }
}
