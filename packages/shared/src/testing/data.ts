/** Data of every event type with sensible defaults; a test names only what it is about. */
import type { Digest, Epoch, EventId, SessionId } from "../core/brand.ts";
import type { DataOf, EventType } from "../core/events/index.ts";
import { type Goal, boundsOf } from "../core/events/goal.ts";
import { digestOf } from "../core/json.ts";
import { goalDigest } from "../core/session/rules/submission.ts";
import { sha256 } from "./sha256.ts";

export const goalOf = (over: Partial<Goal> = {}): Goal => ({ goal: "Make the test pass", maker: "agent", check: "tests", ...over });

/** A digest that stands for something: equal for equal text. */
export const digestOfText = (text: string): Digest => `sha256:${sha256(text)}` as Digest;

const none = "none" as EventId;
type Defaults = { readonly [T in EventType]: () => DataOf<T> };

const workDefaults = {
  claimed: () => ({ dispatch: none, serves: ["build", "review"], leaseMs: 2000, host: { pid: 4711, startTime: "1", bootId: "boot", pidNamespace: "pid" } }),
  grounding: () => ({ scope: "issues", observedAt: "2030-01-01T00:00:00.000Z", outcome: "observed", items: 1, itemsDigest: digestOfText("items") }),
  model: () => ({ provider: "local", model: "small", usage: { costUsd: 0.01, tokensIn: 100, tokensOut: 20 } }),
  tool_requested: () => ({
    tool: "deploy", args: { to: "production" }, argsDigest: digestOf({ to: "production" }, sha256), contract: "lookup", fences: true,
    callWindowSeconds: 60, mutates: true, key: "deploy:production", keySource: "tool", dispatch: none, leaf: "goal", iteration: 1, ordinal: 0,
  }),
  tool_result: () => ({ key: "deploy:production", outcome: "confirmed", result: { ok: true } }),
  reconciled: () => ({ intent: none, key: "deploy:production", epoch: 1 as Epoch, outcome: "happened", evidence: { seen: true }, by: "look-up" }),
  step: () => ({ name: "plan", inputDigest: digestOfText("input"), result: { plan: ["one"] } }),
  built: () => ({ summary: "changed one file", revision: "r1", usage: {} }),
  cycle_failed: () => ({ dispatch: none, class: "deterministic", code: "exit_1", fingerprint: "exit 1", terminal: false, message: "exit 1", usage: {} }),
  handed_back: () => ({ dispatch: none, why: "stopping" }),
  reserved: () => ({ id: "res-1", amounts: { costUsd: 1 } }),
  check: () => ({
    check: "tests", verdict: "FAIL", evidence: { remaining: 2 }, revision: "r1", next_steps: ["repair the sum"],
    checkDigest: digestOfText("check"), pinned: ["package.json"], usage: {},
  }),
  retry: () => ({ type: "tool", operation: "deploy", attempt: 1, delay_seconds: 2, error: "503", errorClass: "transient" }),
  compaction: () => ({ seqs: [1, 2] as never[], pinned: [], tokensMax: 1000, summary: "it went well" }),
} satisfies Partial<Defaults>;

const decidingDefaults = {
  approval_requested: () => ({
    checkpoint: "cp-1", trigger: "before", action: { tool: "deploy", args: { to: "production" } },
    digest: digestOf({ tool: "deploy", args: { to: "production" } }, sha256), expires: null,
  }),
  approval_decided: () => ({
    checkpoint: "cp-1", decision: "APPROVE", digest: digestOf({ tool: "deploy", args: { to: "production" } }, sha256), comment: "",
  }),
  learning: () => ({ check: none, query: "how", evidence: ["seq 3"], action: { did: "repair" }, outcome: "PASS" }),
  error: () => ({ class: "transient", code: "timeout", message: "no answer" }),
  tick: () => ({ schedule: "nightly", due: "2030-01-01T00:00:00.000Z", became: "ran", why: "due" }),
  timer_fired: () => ({ timer: none, kind: "retry" }),
  cancel_requested: () => ({ reason: "not wanted" }),
  pause_requested: () => ({ now: false, reason: "lunch" }),
  checkpoint_requested: () => ({ reason: "let me look" }),
  rules_raised: () => ({ rules: 1 }),
  resumed: () => ({ acceptCheck: false, reason: "go on" }),
  guidance: () => ({ text: "look at the parser" }),
  budget_raised: () => ({ iterations: 1 }),
} satisfies Partial<Defaults>;

/** Each entry builds whole data; unions of literals come out of the annotation. */
export const dataDefaults: Defaults = {
  ...(workDefaults as Pick<Defaults, keyof typeof workDefaults>),
  ...(decidingDefaults as Pick<Defaults, keyof typeof decidingDefaults>),
  ledger_initialised: () => ({ ledgerId: "ledger-1", partitions: 4, format: 1 }),
  goal_submitted: () => submissionOf(),
  dispatched: () => ({ cycle: "build", leaf: "goal", iteration: 1, task: "Make the test pass" }),
  child_opened: () => ({ child: "child-1" as SessionId, goalDigest: digestOfText("child"), depth: 1, carved: {} }),
  child_refused: () => ({ goalDigest: digestOfText("child"), bound: "depth", limit: 0 }),
  child_closed: () => ({ child: "child-1" as SessionId, disposition: "done", reason: null, spent: {} }),
  receipt: () => ({ goalDigest: digestOfText("goal"), check: { name: "tests", digest: digestOfText("check") }, pinned: [], revision: "r1", evidenceDigest: digestOfText("evidence") }),
  status: () => ({ disposition: "done", reason: null, error: null }),
};

/** The data of a submission: digest and bounds follow from the goal, unless named. */
export function submissionOf(goal: Partial<Goal> = {}, over: Partial<DataOf<"goal_submitted">> = {}): DataOf<"goal_submitted"> {
  const whole = goalOf(goal);
  return { goal: whole, digest: goalDigest(whole, { sha256 }), bounds: boundsOf(whole), rules: 1, ...over };
}
