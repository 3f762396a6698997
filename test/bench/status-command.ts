/** `loopledger status ID` as a person types it: one process from its start to its exit, its files in the page cache. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { openLoop } from "./embedded-loop.ts";
import { type Figure, median } from "./figures.ts";
import { commandPath, dataOf, environmentOf } from "./serving.ts";

export async function measureStatus(folder: string, rounds: number): Promise<Figure[]> {
  const place = { folder: mkdtempSync(join(folder, "status-")) };
  mkdirSync(dataOf(place), { recursive: true });
  const loop = await openLoop(dataOf(place));
  await loop.run("shown", 20);
  await loop.stop();
  const took: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const from = performance.now();
    const { status, stderr } = spawnSync(commandPath, ["status", "shown", "--json"], { cwd: place.folder, env: environmentOf(place) });
    if (status !== 0) throw new Error(`status ended with ${status}: ${stderr}`);
    if (round > 0) took.push(performance.now() - from);
  }
  return [{ part: "status", name: "the command", value: median(took), unit: "ms", what: `start to exit of a session of 20 iterations, warm, median of ${rounds}` }];
}
