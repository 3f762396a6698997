/** Taking a goal in: checked, bounded, written once; an equal repeat is the same session. */
import type { SessionId } from "../core/brand.ts";
import type { Actor } from "../core/events/envelope.ts";
import { type Goal, boundsOf } from "../core/events/goal.ts";
import { goalDigest } from "../core/session/rules/submission.ts";
import { rulesKnown } from "../core/session/state.ts";
import type { SessionState } from "../core/session/state.ts";
import { appendAll, withDerived } from "./appends.ts";
import type { Engine } from "./engine.ts";

export type Submitted =
  | { readonly kind: "new" | "same"; readonly sessionId: SessionId; readonly state: SessionState }
  /** The id is taken by another goal. */
  | { readonly kind: "conflict"; readonly sessionId: SessionId; readonly state: SessionState };

/** The id that a goal gets where it names none: the digest of the goal itself. */
export function idOfGoal(goal: Goal, engine: Pick<Engine, "ids">): SessionId {
  return (goal.id ?? goalDigest(goal, { sha256: engine.ids.sha256 }).replace("sha256:", "g-").slice(0, 26)) as SessionId;
}

export async function submitGoal(engine: Engine, goal: Goal, by: { readonly actor: Actor; readonly id?: SessionId }): Promise<Submitted> {
  const sessionId = by.id ?? idOfGoal(goal, engine);
  const digest = goalDigest(goal, { sha256: engine.ids.sha256 });
  const before = await engine.folds.open(sessionId);
  if (before.submission) return { kind: before.submission.digest === digest ? "same" : "conflict", sessionId, state: before };
  const data = { goal, digest, bounds: boundsOf(goal), rules: rulesKnown };
  const written = engine.author.write(sessionId, { type: "goal_submitted", data, actor: by.actor });
  const [verdict] = await appendAll(engine, sessionId, withDerived(engine, before, [written]));
  const state = await engine.folds.open(sessionId);
  if (verdict?.kind === "accepted") return { kind: "new", sessionId, state };
  return { kind: verdict?.kind === "void" && verdict.reason === "key_conflict" ? "conflict" : "same", sessionId, state };
}
