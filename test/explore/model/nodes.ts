/**
 * What the log has come to, as the search keeps it: a state of the fold, the account beside it, and the time, each kept once.
 *
 * X1. Two nodes are one where nothing that can follow tells them apart: what only shows (numbers of records, times that are over,
 *     void counts, digests over the history) is left out, and times stand as what is left of them.
 * X2. A step is the real `evolve` on the real record, at the node's time; it is taken once for each pair of node and record.
 */
import type { LogTime, SessionId } from "@loopledger/shared/core/brand";
import type { LedgerRecord } from "@loopledger/shared/core/events/envelope";
import type { Evolve, FoldEntry, Verdict } from "@loopledger/shared/core/session/evolve";
import { type PMap, values } from "@loopledger/shared/core/session/persistent-map";
import { windowOverAt } from "@loopledger/shared/core/session/rules/effects";
import { type SessionState, emptySession } from "@loopledger/shared/core/session/state";
import { entryOf, firstInstant, sha256, testSession } from "@loopledger/shared/testing";
import { type Account, type Breach, emptyAccount, enter } from "./account.ts";
import { timing } from "./configuration.ts";

export interface Node {
  readonly state: SessionState;
  readonly now: LogTime;
  readonly account: Account;
}
export interface Stepped {
  readonly node: number;
  readonly verdict: Verdict;
  readonly breach: Breach | null;
}

/** Members that only show, wherever they stand. */
const shown: ReadonlySet<string> = new Set([
  "seq", "since", "createdAt", "at", "lastAt", "claimedAt", "lastClaimAt", "intentAt", "position", "void", "takeovers", "digest", "pinned", "host",
  "runningMs", "runningSince", "receipt", "submission", "expiresAt", "result", "message", "evidence",
]);
const isMap = (value: object): value is PMap<unknown> => Object.hasOwn(value, "buckets") && Object.hasOwn(value, "size");

/** The pairs of the fold's own kind of map, in an order that says nothing of when they came. */
function pairsOf(node: unknown): [string, unknown][] {
  if (node === null || typeof node !== "object") return [];
  if (Array.isArray(node)) return node.flatMap(pairsOf);
  const { keys, values: held } = node as { readonly keys: readonly string[]; readonly values: readonly unknown[] };
  return keys.map((key, at) => [key, held[at]]);
}
const byKey = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number => (one < other ? -1 : 1);

/** What of a state decides about what may follow. */
function sketchOf(state: SessionState, now: LogTime): string {
  const left = (at: number): number => Math.max(-1, Math.ceil((at - now) / 1000));
  const windows = state.unsettled.map((key) => {
    const effect = values(state.effects).find((one) => one.key === key);
    return effect && effect.callWindowSeconds < timing.endless ? left(windowOverAt(effect, state.lastClaimAt)) : null;
  });
  return JSON.stringify({ ...state, windows }, (name, value: unknown) => {
    if (shown.has(name)) return undefined;
    if (name === "dueAt") return left(value as number);
    return value !== null && typeof value === "object" && isMap(value) ? pairsOf(value.buckets).sort(byKey) : value;
  });
}

export class Nodes {
  readonly #fold: Evolve;
  readonly #protectedTool: string | null;
  readonly #ids = new Map<string, number>();
  readonly #nodes: Node[] = [];
  readonly #steps = new Map<number, Stepped>();
  readonly #ticks = new Map<number, number>();
  readonly #entries: FoldEntry[] = [];
  readonly #records = new Map<string, number>();
  readonly empty: number;

  constructor(fold: Evolve, options: { readonly protectedTool: string | null; readonly iterationsMax: number | null }) {
    this.#fold = fold;
    this.#protectedTool = options.protectedTool;
    this.empty = this.#keep({ state: emptySession(testSession as SessionId), now: firstInstant as LogTime, account: { ...emptyAccount, iterationsMax: options.iterationsMax } });
  }
  get count(): number {
    return this.#nodes.length;
  }
  of(id: number): Node {
    const node = this.#nodes[id];
    if (!node) throw new RangeError(`no node ${id}`);
    return node;
  }
  #keep(node: Node): number {
    const sketch = `${sketchOf(node.state, node.now)}\n${JSON.stringify(node.account)}`;
    const known = this.#ids.get(sketch);
    if (known !== undefined) return known;
    this.#nodes.push(node);
    this.#ids.set(sketch, this.#nodes.length - 1);
    return this.#nodes.length - 1;
  }

  /** A record under a name that says all of it. It goes through its text once, so that only what the schemas allow is searched. */
  record(name: string, make: () => LedgerRecord): number {
    const known = this.#records.get(name);
    if (known !== undefined) return known;
    const entry = entryOf(make());
    if (entry.parsed.kind !== "record") throw new RangeError(`${name} is no record: ${JSON.stringify(entry.parsed)}`);
    this.#entries.push(entry);
    this.#records.set(name, this.#entries.length - 1);
    return this.#entries.length - 1;
  }
  entry(record: number): LedgerRecord {
    const parsed = this.#entries[record]?.parsed;
    if (parsed?.kind !== "record") throw new RangeError(`no record ${record}`);
    return parsed.record;
  }

  /** What the log comes to with this record behind the node. */
  step(id: number, record: number): Stepped {
    const pair = id * 0x100_000 + record;
    const known = this.#steps.get(pair);
    if (known) return known;
    const stepped = this.#take(this.of(id), record);
    this.#steps.set(pair, stepped);
    return stepped;
  }
  #take(before: Node, record: number): Stepped {
    const entry = this.#entries[record] as FoldEntry;
    const { state, verdict } = this.#fold(before.state, { ...entry, time: before.now }, sha256);
    const { end } = state;
    const seen = { record: this.entry(record), verdict, end: end && `${end.disposition}(${end.reason})`, protectedTool: this.#protectedTool };
    const { account, breach } = enter(before.account, seen);
    return { node: this.#keep({ state, now: before.now, account }), verdict, breach: breach ?? breachOfState(before.state, state, verdict) };
  }

  /** The same log a second later. */
  tick(id: number): number {
    const known = this.#ticks.get(id);
    if (known !== undefined) return known;
    const node = this.of(id);
    const later = this.#keep({ ...node, now: (node.now + 1000) as LogTime });
    this.#ticks.set(id, later);
    return later;
  }
}

/** What holds of any two states that follow each other. */
function breachOfState(before: SessionState, after: SessionState, verdict: Verdict): Breach | null {
  if (verdict.kind === "accepted") {
    return after.seq === before.seq + 1 && verdict.seq === after.seq ? null : "seq is not dense";
  }
  const changed = (Object.keys(before) as (keyof SessionState)[]).some((name) => name !== "void" && name !== "hold" && before[name] !== after[name]);
  return changed ? "a record that is void changed something" : null;
}
