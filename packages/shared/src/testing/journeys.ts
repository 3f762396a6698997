/** Where most stories begin. Each is a list of acts that are accepted one after another. */
import type { Bounds, Goal } from "../core/events/goal.ts";
import type { DataOf } from "../core/events/index.ts";
import { canonicalJson, digestOf } from "../core/json.ts";
import { claim, own, owed, submit } from "./acts.ts";
import type { Envelope } from "./records.ts";
import { sha256 } from "./sha256.ts";
import { type Act, Story } from "./story.ts";

export interface Start { readonly goal?: Partial<Goal>; readonly bounds?: Partial<Bounds>; readonly owner?: string }

/** Submitted with the check first, dispatched, claimed: the owner is at the failure-first review. */
export const toFirstCheck = ({ goal = {}, bounds = {}, owner = "W" }: Start = {}): Act[] => [submit(goal, bounds), owed(), claim(owner)];
/** Submitted without a check first, dispatched, claimed: the owner is at the first build. */
export const toBuild = (start: Start = {}): Act[] => toFirstCheck({ ...start, bounds: { failureFirst: false, ...start.bounds } });
/** And built, the review dispatched to the same owner. */
export const toReview = (start: Start = {}): Act[] => [...toBuild(start), own("built"), owed()];

export const begin = (acts: readonly Act[], options: ConstructorParameters<typeof Story>[0] = {}): Story => new Story(options).given(...acts);

export const passes = (over: Partial<DataOf<"check">> = {}): Act => own("check", { verdict: "PASS", next_steps: [], evidence: { remaining: 0 }, ...over });
export const fails = (over: Partial<DataOf<"check">> = {}): Act => own("check", { verdict: "FAIL", ...over });
export const inconclusive = (over: Partial<DataOf<"check">> = {}): Act => own("check", { verdict: "INCONCLUSIVE", next_steps: [], ...over });

/** An intent for a key, with digests that fit its arguments. */
export function asks(key: string, over: Partial<DataOf<"tool_requested">> = {}, envelope: Envelope = {}): Act {
  const args = over.args ?? { to: key };
  return own("tool_requested", { key, args, argsDigest: digestOf(args, sha256), ...over }, envelope);
}
/** What a checkpoint for a call shows, and the digest that an answer is bound to. */
export function actionOf(tool: string, args: DataOf<"tool_requested">["args"]): { action: DataOf<"approval_requested">["action"]; digest: ReturnType<typeof digestOf> } {
  const action = { tool, args };
  return { action, digest: digestOf(action, sha256) };
}
/** The state as bytes: what two folds must agree on. */
export const bytesOf = (story: Story): string => canonicalJson(story.state);
