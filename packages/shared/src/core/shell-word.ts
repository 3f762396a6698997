/** Words as a POSIX shell reads them. */

/** A word that a POSIX shell reads as one. */
export function quoted(word: string): string {
  return /^[A-Za-z0-9._:@%+=,/-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
