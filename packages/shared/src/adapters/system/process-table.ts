/** The kernel's table of processes, as `/proc` shows it. */
import { readFileSync } from "node:fs";

export interface ProcessStat {
  /** Ticks since boot. */
  readonly startTime: string;
  /** It runs nothing any more, and what it held is free; only its exit has not been asked for yet. */
  readonly isOver: boolean;
}

/** Null where there is no such process. The name in brackets may hold blanks and brackets itself, so fields count from its end. */
export function statOf(pid: number, proc = "/proc"): ProcessStat | null {
  let text: string;
  try {
    text = readFileSync(`${proc}/${pid}/stat`, "utf8");
  } catch {
    return null;
  }
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state = ""] = fields;
  const threads = Number(fields[17]);
  // Of the whole line: field 20 = threads, field 22 = start. Z is a zombie and X a process that is being taken away. Of a killed one
  // the first thread may be a zombie while others still finish a call: they hold its files and ports until they are over too.
  return { startTime: fields[19] ?? "", isOver: state === "X" || (state === "Z" && threads <= 1) };
}

/** The boot that this machine runs since. */
export function bootIdOf(proc = "/proc"): string {
  return readFileSync(`${proc}/sys/kernel/random/boot_id`, "utf8").trim();
}
