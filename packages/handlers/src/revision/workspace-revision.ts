import { filesRevision } from "./files.ts";
import { gitRevision } from "./git.ts";

/**
 * The state of a workspace as one text: equal where nothing has changed. In git HEAD, index, working tree and untracked unignored files
 * count, else all files but `node_modules` and `.loopledger`. null where there is no such folder, or it cannot even be listed.
 * `leaveOut`: absolute folders that do not count. `path`: where git is looked for.
 */
export async function workspaceRevision(
  folder: string, { leaveOut = [], path }: { readonly leaveOut?: readonly string[]; readonly path?: string | undefined } = {},
): Promise<string | null> {
  try {
    return (await gitRevision(folder, { leaveOut, path })) ?? (await filesRevision(folder, leaveOut));
  } catch {
    return filesRevision(folder, leaveOut).catch(() => null);
  }
}
