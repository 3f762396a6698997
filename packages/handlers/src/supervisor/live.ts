/** Runs that this process has started and that are not over, by their id. */
export const liveRuns = new Set<string>();

const lastOfFolder = new Map<string, Promise<unknown>>();

/** Lets one cycle of a session follow another within this process: two of them never overlap. */
export async function afterEarlier<T>(sessionFolder: string, run: () => Promise<T>): Promise<T> {
  const earlier = lastOfFolder.get(sessionFolder);
  const own = (earlier ?? Promise.resolve()).then(run, run);
  const settled = own.catch(() => undefined);
  lastOfFolder.set(sessionFolder, settled);
  try {
    return await own;
  } finally {
    if (lastOfFolder.get(sessionFolder) === settled) lastOfFolder.delete(sessionFolder);
  }
}
