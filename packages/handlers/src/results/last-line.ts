import { tailText } from "@loopledger/shared/core/json";

/** The last words of what a program printed, with a colon before them where it printed any. */
export function saying(printed: string): string {
  const line = lastLine(printed);
  return line === "" ? "" : `: ${line}`;
}
/** The last line with something on it; empty where there is none. */
export function lastLine(printed: string): string {
  return tailText(printed.trim().split("\n").at(-1)?.trim() ?? "", 500);
}
