/** A machine runs one program: an engine with its roles behind a gate. It crashes, is paused, and starts again as another owner. */
import type { OwnerId, SessionId } from "@loopledger/shared/core/brand";
import type { Guards } from "@loopledger/shared/core/fencing/guards";
import {
  type LedgerFaults, type MemoryBlobs, type MemoryHosts, type MemoryLedger, type MemoryOwnership, type MemoryProcess, type MemoryReadModel,
  type OwnershipFaults, type ReadModelFaults, type VirtualClock, createMemoryProcess, createSeededIds,
} from "@loopledger/shared/memory";
import type { Blobs } from "@loopledger/shared/ports";
import { Carrier, type CycleRunner, type Engine, type Log, Liveness, Offers, makeEngine, restoreFolds } from "@loopledger/shared/runtime";
import { reviewRunner } from "@loopledger/checker/checker";
import { startProjector } from "@loopledger/projector/projector";
import { makeScheduler } from "@loopledger/scheduler/scheduler";
import { buildRunner } from "@loopledger/worker/worker";
import { type MachinePlan, world } from "../plan/plan.ts";
import { handlersOn } from "./checks.ts";
import type { Bench } from "./makers.ts";
import type { FailpointHit } from "./points.ts";
import { SimulatedPoints } from "./points.ts";

/** What all machines share. */
export interface Surroundings {
  readonly clock: VirtualClock;
  readonly ledger: MemoryLedger;
  readonly ownership: MemoryOwnership;
  readonly views: MemoryReadModel;
  readonly hosts: MemoryHosts;
  readonly blobs: MemoryBlobs;
  readonly bench: Omit<Bench, "process">;
  readonly guards: Guards;
  readonly seed: number;
  /** Told of everything that went wrong inside a program and was survived, and of a program that could not start. */
  readonly report: (what: string, error: unknown) => void;
  readonly log: Log;
}
/** The faults of one machine as they are now; they outlive its programs. */
export interface MachineFaults {
  readonly ledger: LedgerFaults;
  readonly ownership: OwnershipFaults;
  readonly views: ReadModelFaults;
}

export class Machine {
  readonly plan: MachinePlan;
  readonly faults: MachineFaults;
  /** Called where a program passes a failpoint. */
  onPoint: (hit: FailpointHit) => void = () => undefined;
  process: MemoryProcess;
  ownerId: OwnerId | null = null;
  private readonly around: Surroundings;
  private starts = 0;
  private stop: () => Promise<void> = () => Promise.resolve();
  private skewMs: number;

  constructor(plan: MachinePlan, around: Surroundings) {
    this.plan = plan;
    this.around = around;
    this.skewMs = plan.skewMs;
    this.faults = { ledger: calm(plan), ownership: {}, views: {} };
    this.process = createMemoryProcess(around.clock);
  }

  start(): void {
    this.starts += 1;
    this.process = createMemoryProcess(this.around.clock);
    this.process.skew(this.skewMs);
    const name = `${this.plan.name}/${this.starts}`;
    this.run(this.process, name).catch((error: unknown) => this.around.report(`${name} did not start`, error));
  }
  /** Hands back what it carries, releases its lease, and is gone; another program is started here later, whether that took long or not. */
  leave(downMs: number): void {
    const { process } = this;
    if (process.state !== "running") return;
    this.stop().catch((error: unknown) => this.around.report(`${this.plan.name} did not stop in order`, error));
    this.around.clock.after(downMs, () => {
      process.kill();
      this.start();
    });
  }
  crash(downMs: number): void {
    if (this.process.state === "killed") return;
    this.process.kill();
    this.around.clock.after(downMs, () => this.start());
  }
  pause(forMs: number): void {
    const { process } = this;
    if (process.state !== "running") return;
    process.pause();
    this.around.clock.after(forMs, () => process.resume());
  }
  skew(ms: number): void {
    this.skewMs = ms;
    this.process.skew(ms);
  }

  private async run(process: MemoryProcess, name: string): Promise<void> {
    const { roles } = this.plan;
    const engine = this.engineOf(process, name);
    this.ownerId = engine.ownerId;
    await restoreFolds(engine);
    const liveness = new Liveness(engine, () => world.stepLimitMs);
    const runners: CycleRunner[] = [];
    if (roles.includes("worker")) runners.push(buildRunner(engine));
    if (roles.includes("checker")) runners.push(reviewRunner(engine));
    const crew = { runners, scheduler: roles.includes("scheduler") ? makeScheduler(engine) : null, liveness };
    await liveness.start();
    const projector = roles.includes("projector") ? await startProjector(engine, { apart: this.plan.apart }) : null;
    const offers = new Offers(engine, crew, { carrier: new Carrier(engine, crew), settings: { sessionsMax: this.plan.sessionsMax ?? 50 } });
    offers.start();
    this.stop = async () => {
      await offers.stop();
      await liveness.stop();
      await projector?.stop();
      await engine.folds.close();
    };
  }
  /** A program beside the one that serves: it takes one session one cycle further and leaves. */
  async advance(sessionId: SessionId, nth: number): Promise<void> {
    const process = createMemoryProcess(this.around.clock);
    const engine = this.engineOf(process, `${this.plan.name}/advance ${nth}`);
    await engine.folds.start(await engine.ledger.end());
    const liveness = new Liveness(engine, () => world.stepLimitMs);
    await liveness.start();
    const crew = { runners: [buildRunner(engine), reviewRunner(engine)], scheduler: makeScheduler(engine), liveness };
    await new Carrier(engine, crew).carry(sessionId, { stopping: new AbortController().signal, cyclesMax: 1 });
    await liveness.stop();
    await engine.folds.close();
  }
  private engineOf(process: MemoryProcess, name: string): Engine {
    const { around, faults } = this;
    const ports = {
      ledger: around.ledger.handle({ process, faults: faults.ledger }), ownership: around.ownership.handle({ process, faults: faults.ownership }),
      views: around.views.handle({ ledgerId: around.ledger.ledgerId, process, faults: faults.views }), blobs: around.blobs as Blobs,
      clock: process.clock, ids: createSeededIds(`${around.seed}/${name}`), host: around.hosts.on(this.plan.host, process),
      handlers: handlersOn({ ...around.bench, process }),
    };
    const failpoints = new SimulatedPoints(process, (hit) => this.onPoint(hit));
    return makeEngine(ports, { leaseMs: world.leaseMs, silenceMs: world.silenceMs, guards: around.guards, failpoints, log: around.log });
  }
}

/** The ledger from a machine where nothing is wrong. */
export function calm({ delayMs, lagMs, chunkMax }: MachinePlan): LedgerFaults {
  return { delayMs: [delayMs, delayMs], lagMs: [lagMs, lagMs], chunkMax, timeoutMs: world.ledgerTimeoutMs };
}
