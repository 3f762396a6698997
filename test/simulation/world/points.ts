/** Failpoints of a program in memory: at one it dies or is stopped without the world standing still. */
import type { MemoryProcess } from "@loopledger/shared/memory";
import { type FailpointName, Failpoints } from "@loopledger/shared/runtime";

export interface FailpointHit { readonly point: FailpointName; readonly process: MemoryProcess }

export class SimulatedPoints extends Failpoints {
  private readonly process: MemoryProcess;
  private readonly hit: (hit: FailpointHit) => void;

  constructor(process: MemoryProcess, hit: (hit: FailpointHit) => void) {
    super(new Map(), process.clock);
    this.process = process;
    this.hit = hit;
  }
  /** A killed program goes no further; a stopped one goes on when it is woken. */
  override async pass(point: FailpointName | undefined): Promise<void> {
    if (point === undefined) return;
    this.hit({ point, process: this.process });
    if (this.process.state !== "running") await new Promise<void>((resolve) => this.process.enter(resolve));
  }
}
