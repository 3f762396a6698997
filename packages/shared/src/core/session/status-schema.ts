/** The status as other systems are given it, on the status topic and in the views: closed, so that a change of it is seen. */
import { z } from "zod";
import { contract, cycle, digest, disposition, json, reason } from "../events/fields.ts";
import type { StatusView } from "./status.ts";

const count = z.int().min(0);
const line = z.strictObject({ limit: z.number().nullable(), reserved: z.number(), spent: z.number(), remaining: z.number().nullable() });
const receipt = z.strictObject({
  sessionId: z.string(), goalDigest: digest, check: z.strictObject({ name: z.string(), digest }), pinned: z.array(z.string()),
  revision: z.string().nullable(), evidenceDigest: digest, finalCheckSeq: count, ledgerDigest: z.string(), seq: count,
});

export const statusView = z.strictObject({
  sessionId: z.string().min(1), goal: z.strictObject({ text: z.string(), digest: z.string() }).nullable(),
  disposition, reason: reason.nullable(), error: z.string().nullable(),
  asOf: count, position: z.strictObject({ partition: count, offset: count }).nullable(), epoch: count,
  owner: z.strictObject({ id: z.string(), role: z.string() }).nullable(), active: cycle.nullable(),
  iteration: count, task: z.string().nullable(),
  leaves: z.array(z.strictObject({ id: z.string(), title: z.string(), status: z.string(), passes: z.boolean(), seq: count })),
  effects: z.array(z.strictObject({
    key: z.string(), tool: z.string(), contract, state: z.enum(["intended", "confirmed", "failed", "unknown"]), seq: count,
  })),
  verdict: z.strictObject({
    verdict: z.string(), next_steps: z.array(json), evidence: json, revision: z.string().nullable(), seq: count,
  }).nullable(),
  budget: z.strictObject({ iterations: line, costUsd: line, tokens: line, wallSeconds: line }),
  waitingOn: z.array(z.strictObject({ kind: z.string(), id: z.string(), since: z.string(), expires: z.string().nullable() })),
  children: z.array(z.strictObject({ id: z.string(), open: z.boolean(), disposition: z.string().nullable() })),
  receipt: receipt.nullable() as unknown as z.ZodType<StatusView["receipt"]>, void: z.record(z.string(), count), attempt: count, takeovers: count,
  labels: z.record(z.string(), z.string()), parent: z.string().nullable(),
  createdAt: z.string().nullable(), at: z.string().nullable(), endedAt: z.string().nullable(),
}) satisfies z.ZodType<StatusView>;
