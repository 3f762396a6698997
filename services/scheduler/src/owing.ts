/** What a scheduler would write for one session at one moment: the timers that came due, then what the fold says is owed. Pure. */
import type { LogTime, Sha256 } from "@loopledger/shared/core/brand";
import { type DerivedDraft, dueTimers, nextDerived } from "@loopledger/shared/core/session/derive";
import type { SessionState } from "@loopledger/shared/core/session/state";

export type Owing =
  | { readonly kind: "timers"; readonly drafts: readonly DerivedDraft[] }
  | { readonly kind: "derived" }
  | { readonly kind: "nothing" };

export function owing(state: SessionState, now: LogTime, sha256: Sha256): Owing {
  const drafts = dueTimers(state, now, sha256);
  if (drafts.length > 0) return { kind: "timers", drafts };
  return nextDerived(state) ? { kind: "derived" } : { kind: "nothing" };
}
