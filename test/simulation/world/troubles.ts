/** What goes wrong on the way to the target and back, by the number of the call or look within its session. */
import type { CallTrouble, Fault } from "../plan/plan.ts";

export interface Trouble { readonly how: CallTrouble; readonly ms: number }

export class Troubles {
  private readonly faults: readonly Fault[];
  private readonly counts = new Map<string, number>();
  private readonly fired: (fault: Fault) => void;

  constructor(faults: readonly Fault[], fired: (fault: Fault) => void) {
    this.faults = faults;
    this.fired = fired;
  }
  ofCall(session: string): Trouble | null {
    const nth = this.next(`call ${session}`);
    const fault = this.faults.find((one) => one.kind === "call" && one.session === session && one.nth === nth);
    if (fault?.kind !== "call") return null;
    this.fired(fault);
    return { how: fault.how, ms: fault.ms };
  }
  ofLook(session: string): "silent" | "pending" | null {
    const nth = this.next(`look ${session}`);
    const fault = this.faults.find((one) => one.kind === "look" && one.session === session && one.nth <= nth && nth < one.nth + one.times);
    if (fault?.kind !== "look") return null;
    this.fired(fault);
    return fault.how;
  }
  private next(what: string): number {
    const nth = (this.counts.get(what) ?? 0) + 1;
    this.counts.set(what, nth);
    return nth;
  }
}
