/** What the tests on Redis share: looking in from outside, and leaving nothing behind. */
import { connectOutside, type Reply } from "./resp.ts";

export const silent = { warn: () => undefined };

/** One command, on a connection of its own. */
export async function sendTo(url: string, ...words: readonly (string | number)[]): Promise<Reply> {
  const outside = await connectOutside(url);
  return outside.send(...words).finally(() => outside.close());
}

export async function keysOf(url: string, pattern: string): Promise<string[]> {
  const found = new Set<string>();
  const outside = await connectOutside(url);
  for (let cursor = "0"; ; ) {
    const [next, keys] = (await outside.send("SCAN", cursor, "MATCH", pattern, "COUNT", 1_000)) as [string, string[]];
    for (const key of keys) found.add(key);
    if (next === "0") break;
    cursor = next;
  }
  outside.close();
  return [...found].sort();
}

export async function removeKeys(url: string, pattern: string): Promise<void> {
  const keys = await keysOf(url, pattern);
  if (keys.length > 0) await sendTo(url, "UNLINK", ...keys);
}
