/** Makers that follow the plan: they word each intended action as their kind does, call the doors, and end as planned. */
import type { CycleEnd, MakerTask, StepAnswer } from "@loopledger/shared/core/effects/handling";
import type { Json, JsonObject } from "@loopledger/shared/core/json";
import type { Maker, Running } from "@loopledger/shared/ports";
import { type ActionPlan, type IterationPlan, type Wording, world } from "../plan/plan.ts";
import { type Way, reach } from "./tools.ts";
import type { Workshop } from "./workshop.ts";

export interface Bench extends Way { readonly workshop: Workshop }

export function makersOn(bench: Bench): ReadonlyMap<string, Maker> {
  return new Map([
    ["maker", { name: "maker", principal: "maker@sha256:1", effects: "workspace", timeoutSeconds: 60, run: (task, running) => new Run(bench, task, running).go() }],
    ["external", {
      name: "external", principal: "external@sha256:2", effects: "external", timeoutSeconds: world.externalMakerSeconds,
      run: (task, running) => new Run(bench, task, running).goOutside(),
    }],
  ]);
}

/** A call was answered in a way that ends the run. */
class Leave extends Error {
  readonly end: CycleEnd;
  constructor(end: CycleEnd) {
    super(end.kind);
    this.end = end;
  }
}
const failed = (failure: "transient" | "deterministic", message: string): CycleEnd => ({ kind: "failed", failure, code: "planned", message, fingerprint: message });

class Run {
  private readonly bench: Bench;
  private readonly task: MakerTask;
  private readonly running: Running;
  private readonly run: number;
  private reservation: string | null = null;

  constructor(bench: Bench, task: MakerTask, running: Running) {
    this.bench = bench;
    this.task = task;
    this.running = running;
    this.run = bench.workshop.count(`runs ${task.sessionId}/${task.leaf}/${task.iteration}`);
  }

  async go(): Promise<CycleEnd> {
    const planned = this.planned();
    if (!planned) return failed("deterministic", "no such iteration");
    try {
      await this.pause(Math.ceil(planned.makerMs / 2));
      return await this.follow(planned);
    } catch (error) {
      if (error instanceof Leave) return error.end;
      throw error;
    }
  }
  /** The work of a maker that is an effect itself: one application under its own key, in time or not at all. */
  async goOutside(): Promise<CycleEnd> {
    const { bench, task } = this;
    const begunAt = bench.process.clock.monotonic();
    const planned = this.planned();
    if (!planned) return failed("deterministic", "no such iteration");
    try {
      if (this.failsForNow(planned)) return failed("transient", "not now");
      await this.pause(planned.makerMs);
    } catch (error) {
      if (error instanceof Leave) return error.end;
      throw error;
    }
    const limitSeconds = Math.min(world.externalMakerSeconds, task.wallSecondsLeft ?? world.externalMakerSeconds);
    if (bench.process.clock.monotonic() - begunAt > (limitSeconds - 1.5) * 1_000) return failed("deterministic", "out of time");
    const call = { door: "unsafe", session: task.sessionId, epoch: task.epoch, key: task.idempotencyKey, args: null } as const;
    const answer = await reach(bench, call, 10);
    if (answer.kind !== "confirmed") return failed("deterministic", "no answer");
    return this.built("done outside");
  }

  private planned(): IterationPlan | null {
    return this.bench.workshop.iteration(this.task.sessionId, this.task);
  }
  private async follow(planned: IterationPlan): Promise<CycleEnd> {
    if (planned.costUsd > 0) this.reservation = this.answered(await this.task.steps.reserve({ costUsd: planned.costUsd })).id;
    for (let step = 1; step <= planned.steps; step++) await this.step(`step ${step}`);
    const early = this.failsForNow(planned) || planned.fails !== null;
    await this.makeAll(early ? planned.actions.slice(0, planned.transient.after) : planned.actions, planned.together);
    if (early) return planned.fails === null ? failed("transient", "not now") : failed("deterministic", planned.fails);
    await this.pause(Math.ceil(planned.makerMs / 2));
    return this.built(`${planned.leaf} is built`, planned.costUsd / 2);
  }
  private failsForNow({ transient }: IterationPlan): boolean {
    return this.run <= transient.runs;
  }
  private built(summary: string, costUsd = 0): CycleEnd {
    const revision = this.bench.workshop.change(this.task.sessionId);
    return { kind: "built", result: { summary, revision, usage: { tokensIn: 1, tokensOut: 1, ...(this.reservation !== null && { costUsd, reservation: this.reservation }) } } };
  }

  private async makeAll(actions: readonly ActionPlan[], together: boolean): Promise<void> {
    if (!together) {
      for (const action of actions) await this.make(action);
      return;
    }
    const ended = await Promise.allSettled(actions.map((action) => this.make(action)));
    const first = ended.find((one) => one.status === "rejected");
    if (first) throw first.reason;
  }
  private async make(action: ActionPlan): Promise<void> {
    this.mayGoOn();
    const wording = this.bench.workshop.plan(this.task.sessionId)?.wording ?? "stable";
    const key = wording === "keyed" ? `own:${action.identity}` : undefined;
    // What did not happen on the way is asked for again; a target that says no, and a read, are not asked twice.
    for (let asked = 1; ; asked++) {
      const { outcome } = this.answered(await this.task.steps.tool(action.door, this.worded(action, wording), key));
      if (outcome === "confirmed" || action.fails || action.door === "read" || asked > 20) return;
      await this.pause(50);
    }
  }
  /** The same action in this run's words. */
  private worded(action: ActionPlan, wording: Wording): Json {
    const plain = { identity: action.identity, ms: action.ms, ...(action.large && { large: true }) };
    if (wording === "stable" || wording === "keyed") return plain;
    const told = wording === "careful" ? this.settled().find((one) => (one["args"] as JsonObject)["identity"] === action.identity) : undefined;
    return told?.["args"] ?? { ...plain, words: `${this.run}` };
  }
  private settled(): readonly JsonObject[] {
    return (this.task.input["settled"] ?? []) as readonly JsonObject[];
  }

  /** A durable step: what it gave first, it gives for ever. */
  private async step(name: string): Promise<void> {
    const { steps, sessionId, leaf } = this.task;
    const known = this.answered(await steps.step(name, { name }));
    if (known.recorded) return;
    await this.pause(5);
    this.answered(await steps.step(name, { name }, { made: this.bench.workshop.count(`step ${sessionId}/${leaf}/${name}`) }));
  }
  private answered<T>(answer: StepAnswer<T>): T {
    if (answer.ok) return answer.value;
    if (answer.code === "stale_owner") throw new Leave({ kind: "stopped" });
    if (answer.status === 423 || answer.status === 424 || answer.code === "budget_exhausted") throw new Leave({ kind: "suspended" });
    throw new Leave(failed("deterministic", `${answer.code}: ${answer.detail}`));
  }
  private mayGoOn(): void {
    if (this.running.signal.aborted) throw new Leave({ kind: "stopped" });
  }
  private async pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => void this.bench.process.clock.after(ms, resolve));
    this.mayGoOn();
  }
}
