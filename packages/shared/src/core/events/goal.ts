/** A goal as people write it, and the bounds that it resolves to. There is no field that says how often to loop. */
import { z } from "zod";
import { json, leafId, name, sessionId, text } from "./fields.ts";

export interface Leaf {
  readonly id: string;
  readonly title: string;
  readonly kind?: string | undefined;
  readonly check?: string | undefined;
  readonly after?: readonly string[] | undefined;
  readonly leaves?: readonly Leaf[] | undefined;
}
export const leaf: z.ZodType<Leaf> = z.strictObject({
  id: leafId,
  title: text(8192).min(1),
  kind: name.optional(),
  check: name.optional(),
  after: z.array(leafId).max(1000).optional(),
  get leaves() {
    return z.array(leaf).max(1000).optional();
  },
}) as z.ZodType<Leaf>;

const expiry = { expiresSeconds: z.number().positive().optional() };
export const approvalTrigger = z.union([
  z.strictObject({ before: name, ...expiry }),
  z.strictObject({ everyIterations: z.int().min(1), ...expiry }),
  z.strictObject({ onFailure: z.enum(["any", "major"]), ...expiry }),
  z.strictObject({ onPlanComplete: z.literal(true), ...expiry }),
  z.strictObject({ costUsd: z.number().positive(), ...expiry }),
]);
export type ApprovalTrigger = z.infer<typeof approvalTrigger>;

const budget = z.strictObject({
  iterations: z.int().min(1).nullable().optional(),
  costUsd: z.number().positive().nullable().optional(),
  tokens: z.int().min(1).nullable().optional(),
  wallSeconds: z.number().positive().nullable().optional(),
});
const policy = z.strictObject({
  failureFirst: z.union([z.boolean(), z.literal("strict")]).optional(),
  approvals: z.array(approvalTrigger).max(50).optional(),
  retry: z.strictObject({ maxAttempts: z.int().min(1).optional() }).optional(),
  breaker: z.strictObject({ same: z.int().min(2).nullable().optional() }).optional(),
  children: z.strictObject({
    depth: z.int().min(0).optional(), width: z.int().min(0).optional(), total: z.int().min(0).optional(),
  }).optional(),
  fourEyes: z.boolean().optional(),
  gates: z.array(name).max(20).optional(),
});

/** Longest goal text, in UTF-16 units; the whole goal is at most 256 KiB. */
export const goalTextMax = 100_000;
export const goalBytesMax = 262_144;

export const goal = z.strictObject({
  id: sessionId.optional(),
  goal: text(goalTextMax).min(1),
  maker: z.union([name, z.record(name, name)]),
  check: name,
  leaves: z.array(leaf).min(1).max(1000).optional(),
  inputs: z.record(z.string(), json).optional(),
  budget: budget.optional(),
  policy: policy.optional(),
  labels: z.record(name, text(256)).optional(),
});
export type Goal = z.infer<typeof goal>;

/** Every bound of a session written out at submission, so that later defaults never move it. `null` = none. */
export const bounds = z.strictObject({
  iterations: z.int().min(1).nullable(),
  costUsd: z.number().positive().nullable(),
  tokens: z.int().min(1).nullable(),
  wallSeconds: z.number().positive().nullable(),
  failureFirst: z.union([z.boolean(), z.literal("strict")]),
  retryAttempts: z.int().min(1),
  breakerSame: z.int().min(2).nullable(),
  checkTries: z.int().min(1),
  takeovers: z.int().min(1),
  children: z.strictObject({ depth: z.int().min(0), width: z.int().min(0), total: z.int().min(0) }),
  fourEyes: z.boolean(),
});
export type Bounds = z.infer<typeof bounds>;

export function boundsOf(goal: Goal): Bounds {
  const b = goal.budget ?? {};
  const p = goal.policy ?? {};
  return {
    iterations: b.iterations === undefined ? 20 : b.iterations,
    costUsd: b.costUsd ?? null,
    tokens: b.tokens ?? null,
    wallSeconds: b.wallSeconds === undefined ? 14_400 : b.wallSeconds,
    failureFirst: p.failureFirst ?? true,
    retryAttempts: p.retry?.maxAttempts ?? 5,
    breakerSame: p.breaker?.same === undefined ? 3 : p.breaker.same,
    checkTries: 3,
    takeovers: 32,
    children: { depth: p.children?.depth ?? 2, width: p.children?.width ?? 5, total: p.children?.total ?? 20 },
    fourEyes: p.fourEyes ?? false,
  };
}
