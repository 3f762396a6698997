/**
 * The floor: what the disk of this folder takes for the least that a durable step can be, 512 bytes appended and flushed.
 * It is measured in the same run as everything that is compared with it.
 */
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Figure, quantile } from "./figures.ts";

const appends = 500;
const bytes = 512;

export interface Floor {
  readonly p50Ms: number;
  readonly figures: readonly Figure[];
}

export function measureFloor(folder: string): Floor {
  const path = join(folder, "floor");
  const file = openSync(path, "w");
  const block = Buffer.alloc(bytes, 65);
  const took: number[] = [];
  for (let i = 0; i < appends; i++) {
    const from = performance.now();
    writeSync(file, block);
    fdatasyncSync(file);
    took.push(performance.now() - from);
  }
  closeSync(file);
  rmSync(path);
  const what = `append ${bytes} bytes and fdatasync, ${appends} times`;
  const p50Ms = quantile(took, 0.5);
  return {
    p50Ms,
    figures: [
      { part: "floor", name: "p50", value: p50Ms, unit: "ms", what },
      { part: "floor", name: "p99", value: quantile(took, 0.99), unit: "ms", what },
    ],
  };
}
