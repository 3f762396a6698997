/** What outlives every process beside the ledger: workspaces, how often something was tried, and what checks saw. */
import type { IterationPlan, ReviewPlan, SessionPlan } from "../plan/plan.ts";

export interface Seen {
  readonly session: string;
  readonly leaf: string;
  readonly iteration: number;
  readonly verdict: string;
  readonly before: string;
  readonly after: string;
}

export class Workshop {
  readonly seen: Seen[] = [];
  /** What was asked of a maker or a check that no plan knows: the loop has left its way. */
  readonly strays: { readonly session: string; readonly what: string }[] = [];
  private readonly plans: ReadonlyMap<string, SessionPlan>;
  private readonly counts = new Map<string, number>();
  private readonly revisions = new Map<string, number>();

  constructor(plans: readonly SessionPlan[]) {
    this.plans = new Map(plans.map((plan) => [plan.id, plan]));
  }
  plan(session: string): SessionPlan | null {
    return this.plans.get(session) ?? null;
  }
  iteration(session: string, at: { readonly leaf: string; readonly iteration: number }): IterationPlan | null {
    const planned = this.plan(session)?.iterations[at.iteration - 1];
    if (planned?.leaf === at.leaf) return planned;
    this.strays.push({ session, what: `build ${at.leaf}/${at.iteration}` });
    return null;
  }
  review(session: string, at: { readonly leaf: string; readonly iteration: number }): ReviewPlan | null {
    const planned = this.plan(session)?.reviews[`${at.leaf}/${at.iteration}`];
    if (planned) return planned;
    this.strays.push({ session, what: `review ${at.leaf}/${at.iteration}` });
    return null;
  }
  /** How often this has been counted now, from 1. */
  count(what: string): number {
    const count = (this.counts.get(what) ?? 0) + 1;
    this.counts.set(what, count);
    return count;
  }
  checkVersion(session: string): number {
    return this.counts.get(`check of ${session}`) ?? 0;
  }
  changeCheck(session: string): void {
    this.count(`check of ${session}`);
  }
  revision(session: string): string {
    return `r${this.revisions.get(session) ?? 0}`;
  }
  change(session: string): string {
    this.revisions.set(session, (this.revisions.get(session) ?? 0) + 1);
    return this.revision(session);
  }
}
