import { createHash } from "node:crypto";
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { EffectLog } from "./log.mjs";

const TOOL = "open_pull_request";

/**
 * @typedef {{ key: string, session: string | null, epoch: number | null }} Caller
 * @typedef {{ number: number, branch: string, title: string }} Pull
 * @typedef {{ refused: "stale_epoch" | "key_conflict" } | { pull: Pull }} Opened
 */

/**
 * The pull requests of one repository. A key opens one, however often it is presented. Whoever looks a key up, or calls,
 * under an epoch closes the door for lower epochs of that session: a process that was paused meanwhile changes nothing.
 */
export class Pulls {
  #folder;
  #log;
  #now;
  /** @type {Map<string, { argsDigest: string, pull: Pull }>} */
  #byKey = new Map();
  /** @type {Map<string, number>} the highest epoch seen, by session */
  #fences = new Map();

  /** @param {string} folder @param {() => string} now */
  constructor(folder, now = () => new Date().toISOString()) {
    this.#folder = folder;
    this.#now = now;
    if (!existsSync(join(folder, "pulls"))) mkdirSync(join(folder, "pulls"));
    this.#log = new EffectLog(join(folder, "effects.jsonl"));
    for (const row of this.#log.rows) {
      this.#raise(row);
      if (row.kind === "application") this.#remember(row.key, row.argsDigest, JSON.parse(readFileSync(this.#body(row.argsDigest), "utf8")));
    }
  }

  /** @param {Caller} caller @param {{ branch: string, title: string }} args @returns {Opened} */
  open(caller, args) {
    const argsDigest = digest(args);
    this.#write("call", caller, argsDigest);
    if (this.#isStale(caller)) return { refused: "stale_epoch" };
    this.#raise(caller);
    const known = this.#byKey.get(caller.key);
    if (known) return known.argsDigest === argsDigest ? { pull: known.pull } : { refused: "key_conflict" };
    this.#store(argsDigest, args);
    this.#write("application", caller, argsDigest);
    return { pull: this.#remember(caller.key, argsDigest, args) };
  }

  /** @param {Caller} caller @returns {Pull | null} */
  lookUp(caller) {
    const known = this.#byKey.get(caller.key);
    this.#write("lookup", caller, known?.argsDigest ?? null);
    this.#raise(caller);
    return known?.pull ?? null;
  }

  list() {
    return [...this.#byKey].map(([key, { pull }]) => ({ key, ...pull }));
  }

  isInPlace() {
    return this.#log.isInPlace();
  }

  #isStale({ session, epoch }) {
    return session !== null && epoch !== null && epoch < (this.#fences.get(session) ?? 0);
  }

  #raise({ session, epoch }) {
    if (session === null || epoch === null) return;
    this.#fences.set(session, Math.max(epoch, this.#fences.get(session) ?? 0));
  }

  #remember(key, argsDigest, { branch, title }) {
    const pull = { number: this.#byKey.size + 1, branch, title };
    this.#byKey.set(key, { argsDigest, pull });
    return pull;
  }

  #write(kind, { key, session, epoch }, argsDigest) {
    this.#log.append({ kind, tool: TOOL, key, session, epoch, argsDigest, at: this.#now() });
  }

  #body(argsDigest) {
    return join(this.#folder, "pulls", `${argsDigest.replace("sha256:", "")}.json`);
  }

  /** The text goes to the disk before the row that points at it. */
  #store(argsDigest, args) {
    const path = this.#body(argsDigest);
    if (existsSync(path)) return;
    const fd = openSync(`${path}.part`, "w");
    writeSync(fd, JSON.stringify(args, null, 2));
    fsyncSync(fd);
    closeSync(fd);
    renameSync(`${path}.part`, path);
  }
}

/** SHA-256 of the canonical JSON: members in the order of their names, no blanks. */
export function digest(value) {
  return `sha256:${createHash("sha256").update(canonical(value)).digest("hex")}`;
}

function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`);
  return `{${members.join(",")}}`;
}
