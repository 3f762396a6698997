/** What is seen of a ledger while processes work on it. */
import type { SessionId } from "@loopledger/shared/core/brand";
import { statusOf } from "@loopledger/shared/core/session/status";
import type { SessionState } from "@loopledger/shared/core/session/state";
import type { Change, Engine } from "@loopledger/shared/runtime";

export interface Claim {
  readonly session: string;
  readonly ownerId: string;
  readonly pid: number;
  readonly counts: boolean;
  /** By this process's clock. */
  readonly at: number;
}
/** A record that counts and ends a step. */
export interface StepEnd {
  readonly session: string;
  readonly ownerId: string;
  readonly type: string;
  readonly at: number;
}

export class Watch {
  readonly claims: Claim[] = [];
  readonly steps: StepEnd[] = [];
  /** Void records: how many of each type and reason. */
  readonly voids = new Map<string, number>();
  readonly #states = new Map<string, SessionState>();
  readonly #stop: () => void;

  constructor(engine: Engine) {
    this.#stop = engine.folds.listen((change) => this.#see(change), "watch");
  }
  #see({ sessionId, state, record, verdict }: Change): void {
    this.#states.set(sessionId, state);
    if (!record) return;
    const at = performance.now();
    const counts = verdict.kind === "accepted";
    if (verdict.kind === "void") this.voids.set(`${record.type} ${verdict.reason}`, (this.voids.get(`${record.type} ${verdict.reason}`) ?? 0) + 1);
    if (record.type === "claimed") this.claims.push({ session: sessionId, ownerId: record.ownerId ?? "", pid: record.data.host.pid, counts, at });
    if (counts && (record.type === "built" || record.type === "check")) this.steps.push({ session: sessionId, ownerId: record.ownerId ?? "", type: record.type, at });
  }
  state(id: string): SessionState | undefined {
    return this.#states.get(id);
  }
  dispositionOf(id: string): string {
    const state = this.#states.get(id);
    return state ? statusOf(state).disposition : "unknown";
  }
  get done(): number {
    return [...this.#states.values()].filter((state) => state.end?.disposition === "done").length;
  }
  describe(id: string): string {
    const state = this.#states.get(id as SessionId);
    if (!state) return "has no record";
    const { disposition, reason, iteration, error } = statusOf(state);
    return JSON.stringify({ disposition, reason, error, iteration, epoch: state.epoch, open: state.open?.cycle ?? null, owed: state.owed?.what ?? null, owner: state.owner?.host.pid ?? null, unsettled: state.unsettled });
  }
  /** Claims that another one was quicker than. */
  rivals(from = 0): number {
    return this.claims.slice(from).filter(({ counts }) => !counts).length;
  }
  close(): void {
    this.#stop();
  }
}
