/** `check`: the verdict of a review, and what a next step may be. */
import { z } from "zod";
import { defineEvent } from "./define.ts";
import { digest, json, log, name, text, usage, verdict } from "./fields.ts";
import { goal } from "./goal.ts";

const nextStep = z.union([text(65_536).min(1), z.strictObject({ goal })]);
export type NextStep = z.infer<typeof nextStep>;
/** Most next steps that one verdict may hold; more is an unreadable verdict. */
export const nextStepsMax = 1000;

/** The verdict, its evidence and the revision that it was established on. `checkDigest` covers the definition and what is pinned. */
export const check = defineEvent("check", { authorship: ["owner"], writers: ["checker"] },
  z.strictObject({
    check: name, verdict, evidence: json, revision: text(512).nullable(), next_steps: z.array(nextStep).max(nextStepsMax),
    checkDigest: digest, pinned: z.array(text(1024)).max(1000), usage,
    /** What the breaker compares; by default made from the first next step. */
    fingerprint: text(256).min(1).optional(),
    citations: z.array(text(512)).max(1000).optional(), log: log.optional(),
  }));
