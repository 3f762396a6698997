/** Runs the same Node program in several processes at the same time and waits for all of them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

export async function runAtOnce(count: number, args: readonly string[]): Promise<void> {
  const children = Array.from({ length: count }, () =>
    spawn(process.execPath, args, { cwd: join(import.meta.dirname, "../.."), stdio: ["ignore", "ignore", "pipe"] }));
  await Promise.all(children.map(async (child) => {
    let said = "";
    child.stderr.on("data", (chunk) => {
      said += String(chunk);
    });
    const [code] = await once(child, "close");
    if (code !== 0) throw new Error(`A process ended with ${code}: ${said}`);
  }));
}
