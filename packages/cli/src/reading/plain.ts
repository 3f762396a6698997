/** Text of others on its way to a person's terminal: nothing in it can steer one. */
import { plainText } from "../story/telling.ts";

/** The same value with every string made plain. */
export function plain<T>(value: T): T {
  if (typeof value === "string") return plainText(value) as T;
  if (Array.isArray(value)) return value.map(plain) as T;
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)])) as T;
}

/** What a maker or check printed, for stdout: made plain on a terminal, as it came anywhere else. */
export function shownOutput(text: string): string {
  return process.stdout.isTTY ? plainText(text) : text;
}
