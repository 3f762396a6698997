/** What processes and people write: whole records, and requests that carry one or several of them to the log at once. */
import type { Epoch, EventId, OwnerId } from "@loopledger/shared/core/brand";
import type { Actor, LedgerRecord } from "@loopledger/shared/core/events/envelope";
import type { DataOf, EventType } from "@loopledger/shared/core/events/index";
import { digestOf } from "@loopledger/shared/core/json";
import { type DerivedDraft, nextDerived } from "@loopledger/shared/core/session/derive";
import type { SessionState } from "@loopledger/shared/core/session/state";
import { type Envelope, actorOf, recordOf, sha256 } from "@loopledger/shared/testing";
import { type CallPlan, type Configuration, timing } from "./configuration.ts";
import type { Nodes } from "./nodes.ts";
import { isTimed } from "./world.ts";

/** Records that reach the log together or not at all. */
export interface Flight {
  readonly records: readonly number[];
  /** How many of them, from the first on, are the sender's own; what follows was derived ahead. */
  readonly own: number;
  readonly label: string;
}
/** Who writes, and under which token. */
export interface Pen {
  readonly ownerId: string;
  readonly epoch: number;
  /** Its drops: what it writes after one has another id. */
  readonly drops: number;
}

export class Flights {
  readonly #nodes: Nodes;
  readonly #ids = new Map<string, number>();
  readonly #flights: Flight[] = [];

  constructor(nodes: Nodes) {
    this.#nodes = nodes;
  }
  of(id: number): Flight {
    const flight = this.#flights[id];
    if (!flight) throw new RangeError(`no request ${id}`);
    return flight;
  }
  keep(records: readonly number[]): number {
    const name = records.join();
    const known = this.#ids.get(name);
    if (known !== undefined) return known;
    const all = records.map((one) => this.#nodes.entry(one));
    const own = all.filter((one) => one.ownerId !== undefined).length;
    this.#flights.push({ records, own, label: all.map(wordsOf).join(" + ") });
    this.#ids.set(name, this.#flights.length - 1);
    return this.#flights.length - 1;
  }

  /** A record of the owner, numbered behind what its view of the log has come to. */
  own<T extends EventType>(type: T, data: Partial<DataOf<T>>, by: { readonly pen: Pen; readonly state: SessionState; readonly more?: Envelope }): number {
    const { pen, state } = by;
    const dispatch = state.open?.eventId ?? ("none" as EventId);
    const n = state.n + 1;
    const name = `${type}.${pen.ownerId}.${pen.epoch}.${n}${pen.drops > 0 ? `.${pen.drops}` : ""}`;
    const details = `${JSON.stringify(data)}|${dispatch}`;
    return this.#nodes.record(`${name}|${details}`, () => {
      const eventId = `${name}.${sha256(details).slice(0, 6)}` as EventId;
      return recordOf(type, data, { eventId, epoch: pen.epoch as Epoch, ownerId: pen.ownerId as OwnerId, n, cause: dispatch, ...by.more }) as LedgerRecord;
    });
  }
  claim(pen: Pen, dispatch: EventId, serves: DataOf<"claimed">["serves"]): number {
    const name = `claimed.${pen.ownerId}.${pen.epoch}${pen.drops > 0 ? `.${pen.drops}` : ""}`;
    return this.#nodes.record(`${name}|${dispatch}`, () => {
      const eventId = `${name}.${sha256(dispatch).slice(0, 6)}` as EventId;
      return recordOf("claimed", { dispatch, serves }, { eventId, ownerId: pen.ownerId as OwnerId, epoch: pen.epoch as Epoch });
    });
  }
  derived(draft: DerivedDraft): number {
    return this.#nodes.record(`${draft.eventId}|${JSON.stringify(draft.data)}`, () =>
      recordOf(draft.type, draft.data as never, { eventId: draft.eventId, cause: draft.cause, actor: actorOf("scheduler") }) as LedgerRecord);
  }
  person<T extends EventType>(type: T, name: string, data: Partial<DataOf<T>>): number {
    return this.#act(type, { name, data, actor: actorOf("human", "boss") });
  }
  scheduler<T extends EventType>(type: T, name: string, data: Partial<DataOf<T>>): number {
    return this.#act(type, { name, data, actor: actorOf("scheduler") });
  }
  #act<T extends EventType>(type: T, { name, data, actor }: { readonly name: string; readonly data: Partial<DataOf<T>>; readonly actor: Actor }): number {
    return this.#nodes.record(`${name}|${JSON.stringify(data)}`, () => recordOf(type, data, { eventId: name as EventId, actor }) as LedgerRecord);
  }

  /** The records, and behind them what the fold will say is owed once they are accepted, as the sender's view has it. */
  withDerived(view: number, records: readonly number[]): number {
    const batch = [...records];
    let ahead = view;
    for (const one of records) ahead = this.#nodes.step(ahead, one).node;
    for (let owed = nextDerived(this.#nodes.of(ahead).state); owed; owed = nextDerived(this.#nodes.of(ahead).state)) {
      const record = this.derived(owed);
      const stepped = this.#nodes.step(ahead, record);
      if (stepped.verdict.kind !== "accepted" || batch.includes(record)) break;
      batch.push(record);
      ahead = stepped.node;
    }
    return this.keep(batch);
  }
}

export const keyOf = ({ name }: CallPlan, iteration: number): string => `${name}:${iteration}`;
const argsOf = ({ name }: CallPlan, iteration: number): { readonly tool: string; readonly iteration: number } => ({ tool: name, iteration });
export const actionOf = (call: CallPlan, iteration: number): DataOf<"approval_requested">["action"] => ({ tool: call.name, args: argsOf(call, iteration) });
export const questionOf = (call: CallPlan, iteration: number): string => `ask-${call.name}-${iteration}`;

export function intentOf(call: CallPlan, state: SessionState, configuration: Configuration): Partial<DataOf<"tool_requested">> {
  const iteration = state.open?.iteration ?? 0;
  const args = argsOf(call, iteration);
  return {
    tool: call.name, args, argsDigest: digestOf(args, sha256), contract: call.contract, fences: configuration.fences, key: keyOf(call, iteration), keySource: "caller",
    callWindowSeconds: isTimed(configuration) ? timing.window : timing.endless, dispatch: state.open?.eventId ?? ("none" as EventId), leaf: state.open?.leaf ?? "goal", iteration,
  };
}

/** A record in a few words, for a trace. */
function wordsOf(record: LedgerRecord): string {
  switch (record.type) {
    case "claimed": return `claimed(epoch ${record.epoch}, ${record.ownerId})`;
    case "dispatched": return `dispatched(${record.data.cycle} ${record.data.iteration}${record.data.leaf === "goal" ? "" : ` of ${record.data.leaf}`})`;
    case "tool_requested": return `intent(${record.data.key})`;
    case "tool_result": return `result(${record.data.key} ${record.data.outcome})`;
    case "reconciled": return `reconciled(${record.data.key} ${record.data.outcome}, looked at in epoch ${record.data.epoch})`;
    case "check": return `check(${record.data.verdict})`;
    case "status": return `status(${record.data.disposition}, ${record.data.reason})`;
    case "timer_fired": return `timer fired(${record.data.kind})`;
    case "approval_requested": return `question(${record.data.trigger})`;
    case "approval_decided": return `answer(${record.data.decision})`;
    default: return record.type;
  }
}
