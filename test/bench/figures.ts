/** Figures of a run: quantiles, and one table in which every row says what it is. */
export interface Figure {
  /** The part of the bench that it belongs to. */
  readonly part: string;
  readonly name: string;
  readonly value: number;
  readonly unit: "ms" | "s" | "us" | "MB" | "iterations/s" | "x" | "%" | "count";
  /** How it was taken, in a few words. */
  readonly what: string;
  /** The value divided by the floor's own, where the floor has one. */
  readonly toFloor?: number;
}

/** The value below which the share `q` of the list lies. NaN of an empty list. */
export function quantile(list: readonly number[], q: number): number {
  const sorted = list.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}
export const median = (list: readonly number[]): number => quantile(list, 0.5);

function shown(value: number): string {
  if (!Number.isFinite(value)) return "-";
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en");
  return value.toFixed(Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 3);
}

/** One table for people. */
export function tableOf(figures: readonly Figure[]): string {
  const rows = figures.map(({ part, name, value, unit, toFloor, what }) => [
    part, name, shown(value), unit, toFloor === undefined ? "" : `${shown(toFloor)}x`, what,
  ]);
  const head = ["part", "figure", "value", "unit", "/ floor", "what it is"];
  const widths = head.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells.map((cell, at) => (at === 2 || at === 4 ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0))).join("  ").trimEnd();
  return [line(head), ...rows.map(line)].join("\n");
}
