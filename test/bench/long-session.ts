/** One session of many iterations: the last thousand must cost what the first thousand did. */
import { openLoop } from "./embedded-loop.ts";
import { type Figure, median } from "./figures.ts";

const window = 1000;
const warmSessions = 20;

export async function measureLongSession({ folder, iterations }: { readonly folder: string; readonly iterations: number }): Promise<Figure[]> {
  const loop = await openLoop(folder);
  try {
    for (let i = 0; i < warmSessions; i++) await loop.run(`warm-${i}`, 50);
    await loop.run("long", iterations);
    const begun = loop.begun.get("long") ?? [];
    const gaps = begun.slice(1).map((at, i) => at - (begun[i] ?? at));
    const first = median(gaps.slice(0, window));
    const last = median(gaps.slice(-window));
    const what = `one session of ${iterations} iterations, median of ${window}`;
    return [
      { part: "long session", name: "first iterations", value: first, unit: "ms", what },
      { part: "long session", name: "last iterations", value: last, unit: "ms", what },
      { part: "long session", name: "last / first", value: last / first, unit: "x", what },
    ];
  } finally {
    await loop.stop();
  }
}
