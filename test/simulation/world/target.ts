/**
 * What effects are made on. It stands outside every process and writes down each call, application, look and refusal.
 * A fenced door stores the highest epoch of a session that it has seen, and refuses lower ones when it applies.
 * Only the `idempotent` door remembers results by key and applies a key once; the others do what they are told, each time.
 */
import type { Json, JsonObject } from "@loopledger/shared/core/json";
import type { Door } from "../plan/plan.ts";

export interface TargetRow {
  readonly kind: "call" | "application" | "refused" | "look";
  readonly door: Door;
  readonly session: string;
  readonly epoch: number;
  readonly key: string;
  readonly identity: string;
  readonly args: Json;
  readonly at: number;
}
export interface TargetCall {
  readonly door: Door;
  readonly session: string;
  readonly epoch: number;
  readonly key: string;
  readonly args: Json;
}
export type TargetAnswer = { readonly kind: "done"; readonly result: Json } | { readonly kind: "refused" } | { readonly kind: "did-not-happen" };

/** A bug that a test plants here, to see that it is found and made short. */
export type PlantedBug = "looks fence nothing" | "keys are forgotten";

const fenced: ReadonlySet<Door> = new Set(["fenced", "unsafe-fenced"]);

/** What a call means; a call of a maker that is an effect itself has nothing but its key. */
export function identityOf(args: Json, key: string): string {
  const identity = (args as JsonObject | null)?.["identity"];
  return typeof identity === "string" ? identity : key;
}

function isLarge(args: Json): boolean {
  return (args as JsonObject | null)?.["large"] === true;
}

export class Target {
  readonly rows: TargetRow[] = [];
  private readonly now: () => number;
  private readonly refuses: (identity: string) => boolean;
  private readonly results = new Map<string, Json>();
  private readonly epochs = new Map<string, number>();
  private readonly bug: PlantedBug | null;

  constructor(options: { readonly now: () => number; readonly refuses: (identity: string) => boolean; readonly bug?: PlantedBug }) {
    this.now = options.now;
    this.refuses = options.refuses;
    this.bug = options.bug ?? null;
  }

  /** The call arrives and is applied, or not. */
  apply(call: TargetCall): TargetAnswer {
    this.write("call", call);
    if (fenced.has(call.door)) {
      if ((this.epochs.get(call.session) ?? 0) > call.epoch) {
        this.write("refused", call);
        return { kind: "refused" };
      }
      this.epochs.set(call.session, call.epoch);
    }
    if (this.refuses(identityOf(call.args, call.key))) return { kind: "did-not-happen" };
    const known = call.door === "idempotent" && this.bug !== "keys are forgotten" ? this.results.get(nameOf(call)) : undefined;
    if (known !== undefined) return { kind: "done", result: known };
    this.write("application", call);
    const result = { did: identityOf(call.args, call.key), number: this.rows.length, ...(isLarge(call.args) && { text: "x".repeat(70_000) }) };
    this.results.set(nameOf(call), result);
    return { kind: "done", result };
  }

  /** A look at what became of a key, under the looker's epoch; a fence sends a looker of a lower one away. */
  look(call: TargetCall): { readonly status: "happened"; readonly result: Json } | { readonly status: "did_not_happen" | "unknown" } {
    if (fenced.has(call.door) && (this.epochs.get(call.session) ?? 0) > call.epoch) {
      this.write("refused", call);
      return { status: "unknown" };
    }
    this.write("look", call);
    if (fenced.has(call.door) && this.bug !== "looks fence nothing") this.epochs.set(call.session, call.epoch);
    const result = this.results.get(nameOf(call));
    return result === undefined ? { status: "did_not_happen" } : { status: "happened", result };
  }
  hasApplied(identity: string): boolean {
    return this.rows.some((row) => row.kind === "application" && row.identity === identity);
  }

  private write(kind: TargetRow["kind"], { door, session, epoch, key, args }: TargetCall): void {
    this.rows.push({ kind, door, session, epoch, key, identity: identityOf(args, key), args, at: this.now() });
  }
}

function nameOf({ session, key }: TargetCall): string {
  return `${session} ${key}`;
}
