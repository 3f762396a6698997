/**
 * Failpoints: named places where a test or a fault run makes this process die, stop, throw or hang.
 * Off unless configured. `name=action[@nth]`, comma separated; actions `kill`, `stop`, `throw`, `delay:MS`, `block:MS`.
 */
import { writeSync } from "node:fs";
import type { LedgerRecord } from "../core/events/envelope.ts";
import type { EventType } from "../core/events/index.ts";
import type { Clock } from "../ports/index.ts";

export const failpointNames = [
  "worker.after_read", "worker.after_lease", "worker.before_release", "worker.after_claim_append", "worker.after_claim_readback",
  "worker.before_intent", "worker.after_intent_append", "worker.after_intent_readback", "worker.after_effect",
  "worker.after_outcome_append", "worker.before_built", "worker.after_built_append", "checker.after_claim_append",
  "checker.before_check", "checker.after_check_append", "checker.before_receipt", "checker.after_receipt_append",
  "scheduler.before_dispatch", "scheduler.after_dispatch_append", "projector.before_write", "projector.after_write",
  "intake.before_append", "intake.after_append",
] as const;
export type FailpointName = (typeof failpointNames)[number];

/** The failpoints on both sides of a record's append; a batch is split where one of them is armed. */
interface Around { readonly before?: FailpointName; readonly after?: readonly FailpointName[] }
/** A claim passes the points of every role that it serves. */
export function around(record: LedgerRecord): Around {
  if (record.type !== "claimed") return records[record.type] ?? none;
  return { after: record.data.serves.map((cycle) => (cycle === "build" ? "worker.after_claim_append" : "checker.after_claim_append")) };
}
const none: Around = {};
const records: Partial<Record<EventType, Around>> = {
  goal_submitted: { before: "intake.before_append", after: ["intake.after_append"] },
  dispatched: { before: "scheduler.before_dispatch", after: ["scheduler.after_dispatch_append"] },
  tool_requested: { before: "worker.before_intent", after: ["worker.after_intent_append"] },
  tool_result: { after: ["worker.after_outcome_append"] },
  built: { before: "worker.before_built", after: ["worker.after_built_append"] },
  check: { before: "checker.before_check", after: ["checker.after_check_append"] },
  receipt: { before: "checker.before_receipt", after: ["checker.after_receipt_append"] },
};

type Action = { readonly kind: "kill" | "stop" | "throw" } | { readonly kind: "delay" | "block"; readonly ms: number };
interface Armed { readonly action: Action; readonly nth: number; hits: number }

export class FailpointThrown extends Error {
  override readonly name = "FailpointThrown";
}

export class Failpoints {
  readonly #armed: ReadonlyMap<FailpointName, Armed>;
  readonly #clock: Clock;

  constructor(armed: ReadonlyMap<FailpointName, Armed>, clock: Clock) {
    this.#armed = armed;
    this.#clock = clock;
  }

  /** Some point acts in this process. */
  get anyArmed(): boolean {
    return this.#armed.size > 0;
  }
  armed(...names: readonly (FailpointName | undefined)[]): boolean {
    return names.some((name) => name !== undefined && this.#armed.has(name));
  }

  /** Acts where this is the nth time that the point is passed. */
  async pass(name: FailpointName | undefined): Promise<void> {
    const point = name === undefined ? undefined : this.#armed.get(name);
    if (!point || ++point.hits !== point.nth) return;
    writeSync(2, `failpoint ${name} fired\n`);
    await this.#act(point.action, `failpoint ${name}`);
  }

  async #act(action: Action, what: string): Promise<void> {
    switch (action.kind) {
      case "kill": process.kill(process.pid, "SIGKILL"); return this.#forever();
      case "stop": process.kill(process.pid, "SIGSTOP"); return;
      case "throw": throw new FailpointThrown(what);
      case "delay": return new Promise((resolve) => { this.#clock.after(action.ms, resolve); });
      case "block": return block(action.ms);
    }
  }
  /** The signal ends the process before anything else runs. */
  #forever(): Promise<void> {
    return new Promise(() => undefined);
  }
}

function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Reads the setting; the answer names every mistake in it. */
export function parseFailpoints(setting: string, clock: Clock): { readonly failpoints: Failpoints; readonly faults: readonly string[] } {
  const armed = new Map<FailpointName, Armed>();
  const faults: string[] = [];
  for (const part of setting.split(",").map((one) => one.trim()).filter((one) => one !== "")) {
    const match = /^([a-z._]+)=(kill|stop|throw|delay:(\d+)|block:(\d+))(?:@([1-9]\d*))?$/.exec(part);
    const name = match?.[1];
    if (!match || !isName(name)) {
      faults.push(`failpoint "${part}": expected name=kill|stop|throw|delay:MS|block:MS[@nth] with a known name`);
      continue;
    }
    const ms = Number(match[3] ?? match[4] ?? 0);
    const kind = (match[2] ?? "throw").split(":")[0] as Action["kind"];
    armed.set(name, { action: { kind, ms } as Action, nth: Number(match[5] ?? 1), hits: 0 });
  }
  return { failpoints: new Failpoints(armed, clock), faults };
}

function isName(name: string | undefined): name is FailpointName {
  return (failpointNames as readonly string[]).includes(name ?? "");
}
