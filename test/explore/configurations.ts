/** The configurations that are searched: each puts a few rules under everything that can happen to them. */
import type { CallPlan, Configuration, ProcessPlan } from "./model/configuration.ts";

const everything = ["worker", "checker", "scheduler"] as const;
/** Two processes with every role. */
export const twins: readonly ProcessPlan[] = [{ name: "P", roles: everything }, { name: "Q", roles: everything }];
/** One process a role, to the end. */
const apart: readonly ProcessPlan[] = [{ name: "S", roles: ["scheduler"] }, { name: "W", roles: ["worker"] }, { name: "C", roles: ["checker"] }];
const alone: readonly ProcessPlan[] = [{ name: "P", roles: everything }];
/** Workers that schedule, and a checker that schedules. */
const halves: readonly ProcessPlan[] = [{ name: "W", roles: ["worker", "scheduler"] }, { name: "C", roles: ["checker", "scheduler"] }];
const deploy = (contract: CallPlan["contract"]): readonly CallPlan[] => [{ name: "deploy", contract }];

const basis = { processes: twins, fences: true, iterations: 1, lagMax: 1, flightsMax: 3 } as const;
function one(name: string, over: Partial<Configuration> & Pick<Configuration, "calls" | "faults">): Configuration {
  return { ...basis, ...over, name };
}

const effects: readonly Configuration[] = [
  one("lookup, taken over, dead with a call under way", { calls: deploy("lookup"), faults: { crash: 1, suspect: 1 }, personInterferes: true }),
  one("lookup, answer lost, looks without an answer, cancel", { calls: deploy("lookup"), processes: alone, faults: { crash: 1, lost: 1, silent: 1, cancel: 1 } }),
  one("lookup, no fence, the window by the log's time", { calls: deploy("lookup"), fences: false, faults: { crash: 1, suspect: 1 } }),
  one("idempotent, taken over, dead with a call under way", { calls: deploy("idempotent"), faults: { crash: 1, suspect: 1 } }),
  one("idempotent, called again and lost again, failed for good, a person settles", { calls: deploy("idempotent"), processes: alone, faults: { lost: 2, silent: 1 } }),
  one("idempotent, no fence, failed for good, a person settles", { calls: deploy("idempotent"), processes: alone, fences: false, faults: { crash: 1, lost: 1, silent: 1 } }),
  one("idempotent, dead with a second call under way, a person settles meanwhile", { calls: deploy("idempotent"), faults: { crash: 2 }, personInterferes: true }),
  one("unsafe, taken over, a person settles at any time", { calls: deploy("unsafe"), faults: { crash: 1, suspect: 1 }, personInterferes: true }),
  one("unsafe, answer lost, cancel", { calls: deploy("unsafe"), processes: alone, faults: { crash: 1, lost: 1, cancel: 1 } }),
  one("unsafe, no fence, the window by the log's time", { calls: deploy("unsafe"), fences: false, processes: alone, faults: { crash: 1, lost: 1 } }),
  one("the target says that nothing happened, asked again under the key", { calls: deploy("idempotent"), faults: { failed: 1, crash: 1, suspect: 1 } }),
  one("two calls under way together", {
    calls: [{ name: "deploy", contract: "lookup" }, { name: "post", contract: "unsafe" }], together: true, processes: alone, faults: { crash: 1, lost: 1 },
  }),
];
const processes: readonly Configuration[] = [
  one("a process a role, to the end", { isSmall: true, calls: deploy("lookup"), processes: apart, faults: { crash: 1 } }),
  one("a process a role, to the end, two iterations", { calls: deploy("lookup"), processes: apart, iterations: 2, faults: { crash: 1 } }),
  one("a process a role, one taken for dead", { isSmall: true, calls: deploy("lookup"), processes: [...apart, { name: "V", roles: ["worker"] }], faults: { suspect: 1 } }),
  one("worker and checker that schedule for themselves", { calls: deploy("unsafe"), processes: halves, faults: { crash: 1, drop: 1, handBack: 1 } }),
  one("requests that arrive twice", { calls: deploy("lookup"), faults: { duplicate: 2, crash: 1 } }),
  one("dropped by its owner, handed back, cycles that fail", { calls: deploy("lookup"), faults: { drop: 1, handBack: 1, cycleFailed: 1 } }),
  one("the takeover limit", { calls: deploy("lookup"), bounds: { takeovers: 1 }, faults: { crash: 2, suspect: 1 } }),
];
const people: readonly Configuration[] = [
  one("paused and resumed, two schedulers", { calls: [], iterations: 2, faults: { pause: 1, crash: 1 } }),
  one("paused at once over an unknown effect", { calls: deploy("lookup"), faults: { pauseNow: 1, crash: 1 } }),
  one("a protected call: APPROVE and REJECT race with a takeover and a cancel", {
    calls: deploy("unsafe"), goal: { policy: { failureFirst: false, approvals: [{ before: "deploy" }] } }, answers: ["APPROVE", "REJECT"],
    faults: { suspect: 1, cancel: 1 },
  }),
  one("a protected call: the answer comes before its question", {
    calls: deploy("lookup"), goal: { policy: { failureFirst: false, approvals: [{ before: "deploy" }] } }, answers: ["APPROVE", "REJECT", "PAUSE"],
    earlyAnswers: true, faults: { crash: 1 },
  }),
  one("a protected call: its question expires, by the log's time", {
    calls: deploy("lookup"), goal: { policy: { failureFirst: false, approvals: [{ before: "deploy" }] } }, answers: ["APPROVE"], expiresSeconds: 1,
    faults: { crash: 1, lost: 1 },
  }),
  one("a checkpoint of a person over an unsettled effect, REJECT", { calls: deploy("lookup"), answers: ["APPROVE", "REJECT"], faults: { checkpoint: 1, crash: 1 } }),
  one("the policy's checkpoint after an iteration: APPROVE, MODIFY, REJECT", {
    calls: [], iterations: 2, goal: { policy: { failureFirst: false, approvals: [{ everyIterations: 1, expiresSeconds: 2 }] } }, answers: ["APPROVE", "MODIFY", "REJECT"],
    faults: { crash: 1 },
  }),
  one("the policy's checkpoint at the end: RETRY and MODIFY", {
    calls: [], goal: { policy: { failureFirst: false, approvals: [{ onPlanComplete: true }] } }, answers: ["APPROVE", "RETRY", "MODIFY"], bounds: { iterations: 2 }, raises: 1,
    faults: { crash: 1 },
  }),
  one("the owner finds another check, waits for a person", { calls: deploy("lookup"), faults: { checkChanged: 1, crash: 1, cancel: 1 } }),
];
const timers: readonly Configuration[] = [
  one("a retry, due by the log's time, its owner taken over", { calls: deploy("lookup"), faults: { retry: 1, suspect: 1, crash: 1 } }),
  one("a retry over an unsettled effect and a cancel", { isSmall: true, calls: deploy("lookup"), processes: alone, faults: { retry: 2, lost: 1, cancel: 1 } }),
  one("checks without a verdict, two schedulers", { calls: [], faults: { inconclusive: 2, crash: 1 } }),
  one("out of iterations, raised", { calls: [], iterations: 2, bounds: { iterations: 1 }, raises: 1, faults: { crash: 1, pause: 1 } }),
];
const trees: readonly Configuration[] = [
  one("two leaves, one behind the other", { isSmall: true,
    calls: deploy("lookup"), callingLeaf: "b", goal: { leaves: [{ id: "a", title: "A" }, { id: "b", title: "B", after: ["a"] }] }, faults: { crash: 1 },
  }),
  one("a tree whose goal is red: every leaf is checked again", { isSmall: true,
    calls: [], iterations: 3, processes: alone, goal: { leaves: [{ id: "a", title: "A" }, { id: "b", title: "B" }] }, faults: { crash: 1, cancel: 1 },
  }),
  one("a next step that is a goal: its child ends, or a cancel and a pause come before", {
    isSmall: true, calls: [], processes: alone, opensChild: true, faults: { cancel: 1, pause: 1 },
  }),
  one("a child that a person's checkpoint comes between", { calls: [], opensChild: true, answers: ["APPROVE", "REJECT"], faults: { checkpoint: 1, crash: 1 } }),
  one("the check first, green before any work", { isSmall: true, calls: deploy("unsafe"), iterations: 0, goal: { policy: { failureFirst: true } }, faults: { crash: 1, suspect: 1 } }),
  one("the check first, red", { isSmall: true, calls: deploy("lookup"), goal: { policy: { failureFirst: true } }, processes: alone, faults: { crash: 1, inconclusive: 1 } }),
  one("the breaker hands off, a person re-opens", { isSmall: true, calls: [], iterations: 3, bounds: { breakerSame: 2 }, processes: alone, faults: { reopen: 1, crash: 1, cancel: 1 } }),
  one("what is checked changes while the check runs", { isSmall: true, calls: [], faults: { edit: 1, crash: 1 } }),
];
export const configurations: readonly Configuration[] = [...effects, ...processes, ...people, ...timers, ...trees];
