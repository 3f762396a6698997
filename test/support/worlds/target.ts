/**
 * The thing that effects are made on: it stands outside every process under test and flushes each row to its own log
 * before it says anything. Four doors, one a contract: `idempotent` keeps results by key, `fenced` and `windowed` can be
 * asked about a key, the first refusing epochs lower than it has seen, `unsafe` knows no keys and does it again.
 */
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Json, digestOf } from "@loopledger/shared/core/json";
import { createSystemIds } from "@loopledger/shared/system";

export const doors = ["idempotent", "fenced", "windowed", "unsafe"] as const;
export type Door = (typeof doors)[number];

export interface EffectRow {
  readonly kind: "call" | "application" | "lookup" | "refused";
  readonly tool: string;
  readonly key: string;
  readonly session: string;
  readonly epoch: number;
  readonly argsDigest: string;
  readonly at: string;
}
export interface Call {
  readonly tool: Door;
  readonly key: string;
  readonly session: string;
  readonly epoch: number;
  readonly args: Json;
}
export type Answer = { readonly kind: "done"; readonly result: Json } | { readonly kind: "refused" } | { readonly kind: "lost" };
/** What happens to one call on its way: `apply` does it and says what the target would answer. */
export type Mishap = (apply: () => Answer, call: Call) => Answer | Promise<Answer>;

export const answerLost: Mishap = (apply) => {
  apply();
  return { kind: "lost" };
};
const { sha256 } = createSystemIds();

export class Target {
  readonly logPath: string;
  readonly #log: number;
  readonly #results = new Map<string, Json>();
  readonly #epochs = new Map<string, number>();
  readonly #mishaps = new Map<string, Mishap[]>();

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    this.logPath = join(folder, "effects.jsonl");
    this.#log = openSync(this.logPath, "a");
  }
  close(): void {
    closeSync(this.#log);
  }

  /** The next calls of a session, in order, go wrong like this; later ones go well. */
  next(session: string, ...mishaps: Mishap[]): void {
    this.#mishaps.set(session, [...(this.#mishaps.get(session) ?? []), ...mishaps]);
  }

  async call(call: Call): Promise<Answer> {
    this.#row("call", call);
    const mishap = this.#mishaps.get(call.session)?.shift();
    return mishap ? mishap(() => this.#apply(call), call) : this.#apply(call);
  }
  /** The look stores the looker's epoch in the same step; null where the door cannot be asked. */
  look(call: Call): { readonly status: "happened" | "did_not_happen"; readonly result?: Json } {
    this.#row("lookup", call);
    if (call.tool === "fenced") this.#raise(call);
    const result = this.#results.get(nameOf(call));
    return result === undefined ? { status: "did_not_happen" } : { status: "happened", result };
  }

  rows(session?: string): readonly EffectRow[] {
    const all = readFileSync(this.logPath, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line) as EffectRow);
    return session === undefined ? all : all.filter((row) => row.session === session);
  }
  count(session: string, kind: EffectRow["kind"] = "application"): number {
    return this.rows(session).filter((row) => row.kind === kind).length;
  }

  #apply(call: Call): Answer {
    if (call.tool === "fenced" && (this.#epochs.get(call.session) ?? 0) > call.epoch) {
      this.#row("refused", call);
      return { kind: "refused" };
    }
    if (call.tool === "fenced") this.#raise(call);
    const known = this.#results.get(nameOf(call));
    if (known !== undefined && call.tool !== "unsafe") return { kind: "done", result: known };
    this.#row("application", call);
    const result = { did: call.args, number: this.count(call.session) };
    this.#results.set(nameOf(call), result);
    return { kind: "done", result };
  }
  #raise({ session, epoch }: Call): void {
    this.#epochs.set(session, Math.max(epoch, this.#epochs.get(session) ?? 0));
  }
  #row(kind: EffectRow["kind"], { tool, key, session, epoch, args }: Call): void {
    const row: EffectRow = { kind, tool, key, session, epoch, argsDigest: digestOf(args, sha256), at: new Date().toISOString() };
    writeSync(this.#log, `${JSON.stringify(row)}\n`);
    fsyncSync(this.#log);
  }
}

function nameOf({ session, key }: Call): string {
  return `${session} ${key}`;
}
