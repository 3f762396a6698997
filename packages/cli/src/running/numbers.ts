/** Numbers of the command line, refused in words where they are none. */
import { UsageError } from "../errors.ts";

/** A whole number from `min` on. */
export function whole(flag: string, text: string | undefined, min: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text ?? "") || !Number.isSafeInteger(value) || value < min) throw new UsageError(`${flag} must be a whole number from ${min} on, not "${text}".`);
  return value;
}
/** A number above `limit`. */
export function above(flag: string, text: string | undefined, limit: number): number {
  const value = Number(text);
  if (text?.trim() === "" || !Number.isFinite(value) || value <= limit) throw new UsageError(`${flag} must be a number above ${limit}, not "${text}".`);
  return value;
}
/** A TCP port; 0 = any free one. */
export function portOf(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const port = whole("--port", text, 0);
  if (port > 65_535) throw new UsageError(`--port must be at most 65535, not ${text}.`);
  return port;
}
