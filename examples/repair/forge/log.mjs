import { closeSync, existsSync, fstatSync, fsyncSync, ftruncateSync, openSync, readFileSync, statSync, writeSync } from "node:fs";

/**
 * @typedef {{ kind: "call" | "application" | "lookup", tool: string, key: string, session: string | null,
 *   epoch: number | null, argsDigest: string | null, at: string }} Row
 */

/**
 * The forge's memory and its witness: JSON lines, each on the disk before anything is answered. A line that a kill cut
 * off was never answered for; it is taken away when the file is opened again.
 */
export class EffectLog {
  #path;
  #fd;

  /** @param {string} path */
  constructor(path) {
    this.#path = path;
    const known = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
    this.#fd = openSync(path, "a");
    const whole = known.lastIndexOf("\n") + 1;
    if (whole < known.length) ftruncateSync(this.#fd, whole);
    /** @type {Row[]} what stood in the file when it was opened */
    this.rows = known.subarray(0, whole).toString("utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
  }

  /** @param {Row} row */
  append(row) {
    const line = Buffer.from(`${JSON.stringify(row)}\n`);
    for (let done = 0; done < line.length; ) done += writeSync(this.#fd, line, done);
    fsyncSync(this.#fd);
  }

  /** False as soon as the file that is written to is no longer the one at its path. */
  isInPlace() {
    try {
      return statSync(this.#path).ino === fstatSync(this.#fd).ino;
    } catch {
      return false;
    }
  }

  close() {
    closeSync(this.#fd);
  }
}
