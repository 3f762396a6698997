/** Values of flags, checked where they come in. */
import { UsageError } from "../errors.ts";

/** A whole number from `least` on. */
export function wholeNumber(text: string, { flag, least = 0 }: { readonly flag: string; readonly least?: number }): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least)) throw new UsageError(`${flag} takes a whole number from ${least} on, not "${text}".`);
  return value;
}

/** Seconds, with or without a fraction. */
export function seconds(text: string, flag: string): number {
  const value = /^\d{1,9}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= 0)) throw new UsageError(`${flag} takes seconds, not "${text}".`);
  return value;
}

/** JSON of a flag. */
export function jsonOf(text: string, flag: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new UsageError(`${flag} takes JSON, not "${text.slice(0, 80)}".`, { next: `Quote it for the shell: ${flag} '{"key": "value"}'` });
  }
}
