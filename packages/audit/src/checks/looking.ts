/** What every check of the audit looks at. */
import type { AuditInputs, AuditOptions } from "../inputs.ts";
import type { At, Findings } from "../report.ts";
import type { Accepted, Trail } from "../trail.ts";
import type { Entry } from "../fold/session.ts";

export interface Looking {
  readonly inputs: AuditInputs;
  readonly options: AuditOptions;
  readonly entries: readonly Entry[];
  readonly trails: ReadonlyMap<string, Trail>;
  readonly findings: Findings;
  /** When the run was looked at last, in milliseconds. */
  readonly endedAt: number;
}
export type Check = (looking: Looking) => void;

export function whereIs({ session }: Trail, { entry }: Pick<Accepted, "entry">): At {
  return { sessionId: session.id, partition: entry.partition, offset: entry.offset };
}
