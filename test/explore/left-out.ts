/** Each rule left out, and what then is the shortest way to which breach: a search that finds nothing proves something only where it can find. */
import { foldWithout } from "@loopledger/shared/testing";
import { twins } from "./configurations.ts";
import type { CallPlan, Configuration, Without } from "./model/configuration.ts";
import { weakened } from "./weakened.ts";

export interface LeftOut {
  /** The rule, in words. */
  readonly rule: string;
  readonly configuration: Configuration;
  /** What the shortest way without the rule comes to. */
  readonly breaks: RegExp;
}
const deploy = (contract: CallPlan["contract"]): readonly CallPlan[] => [{ name: "deploy", contract }];
const alone = twins.slice(0, 1);

function rule(rule: string, without: Without, how: Omit<Configuration, "name" | "processes" | "fences" | "iterations" | "without"> & Partial<Configuration> & { readonly breaks: RegExp }): LeftOut {
  const { breaks, ...over } = how;
  return { rule, breaks, configuration: { processes: twins, fences: true, iterations: 1, lagMax: 1, flightsMax: 3, ...over, name: rule, without } };
}

const switches: readonly LeftOut[] = [
  rule("the fence over owner records", { fold: foldWithout("fence") }, { calls: deploy("lookup"), faults: { suspect: 1 }, breaks: /^stale write accepted: / }),
  rule("repeats count once", { fold: foldWithout("dedupe") }, { calls: deploy("lookup"), faults: { duplicate: 1 }, breaks: /^(two open dispatches|a dispatch whose cause)/ }),
  rule("the check runs before any work", { fold: foldWithout("failureFirst") }, {
    calls: deploy("lookup"), iterations: 0, goal: { policy: { failureFirst: true } }, faults: {}, breaks: /^work that nobody needs was done$/,
  }),
  rule("an owner acts on what it has read back", { readBack: true }, { calls: deploy("lookup"), faults: { suspect: 1 }, breaks: /^deploy:1 was applied 2 times$/ }),
  rule("the final check counts for the revision that it saw", { freshness: true }, { calls: [], faults: { edit: 1 }, breaks: /^a PASS for a revision that moved/ }),
];
const looks: readonly LeftOut[] = [
  rule("a look fences its target", { lookFences: true }, { calls: deploy("lookup"), faults: { suspect: 1 }, breaks: /settled as not happened$/ }),
  rule("what refuses a repeated call is believed after the window", { fold: weakened.repeatedRefusal, refusalWaits: true }, {
    calls: deploy("idempotent"), processes: alone, faults: { lost: 1, failed: 1 }, breaks: /settled as not happened$/,
  }),
  rule("a call starts before its deadline", { deadline: true }, { calls: deploy("lookup"), fences: false, faults: { suspect: 1 }, breaks: /settled as not happened$/ }),
  rule("no conclusion without a fence or the end of the window", { fold: weakened.conclusion, waitsForWindow: true }, {
    calls: deploy("lookup"), fences: false, processes: alone, faults: { crash: 1 }, breaks: /settled as not happened$/,
  }),
  rule("a person's look counts for its own epoch", { fold: weakened.epochOfTheLook }, {
    calls: deploy("lookup"), personInterferes: true, faults: { suspect: 1 }, breaks: /settled as not happened$/,
  }),
  rule("what is called again in this epoch is settled after the window: its owner gave up", { fold: weakened.calledAgain, waitsForWindow: true }, {
    calls: deploy("idempotent"), processes: alone, faults: { lost: 2, silent: 1 }, breaks: /settled as not happened$/,
  }),
  rule("what is called again in this epoch is settled after the window: its owner is dead", { fold: weakened.calledAgain, waitsForWindow: true }, {
    calls: deploy("idempotent"), processes: alone, faults: { crash: 2 }, breaks: /settled as not happened$/,
  }),
  rule("what is called again in this epoch is settled after the window: its owner is at it", { fold: weakened.calledAgain, waitsForWindow: true }, {
    calls: deploy("idempotent"), personInterferes: true, faults: { suspect: 1 }, breaks: /settled as not happened$/,
  }),
];
const question = { answers: ["APPROVE", "REJECT"], faults: { checkpoint: 1 } } as const;
const ends: readonly LeftOut[] = [
  rule("a cancel waits for what is unsettled", { fold: weakened.cancelWaits }, { calls: deploy("lookup"), faults: { cancel: 1 }, breaks: /^an end hides an unknown: cancelled/ }),
  rule("a rejection waits for what is unsettled", { fold: weakened.rejectionWaits }, { calls: deploy("lookup"), ...question, breaks: /^an end hides an unknown: handed_off/ }),
  rule("an expiry waits for what is unsettled", { fold: weakened.expiryWaits }, {
    calls: [{ name: "deploy", contract: "lookup" }, { name: "post", contract: "lookup" }], together: true, expiresSeconds: 1, processes: alone,
    goal: { policy: { failureFirst: false, approvals: [{ before: "post" }] } }, faults: {}, breaks: /^an end hides an unknown: handed_off/,
  }),
  rule("the takeover limit hides no unknown", { fold: weakened.takeoverLimitWaits }, {
    calls: deploy("lookup"), bounds: { takeovers: 1 }, faults: { crash: 2 }, breaks: /^an end hides an unknown: handed_off/,
  }),
];
const dispatches: readonly LeftOut[] = [
  rule("a pause holds dispatches back", { fold: weakened.pauseHolds }, { calls: [], faults: { pause: 1 }, breaks: /^a dispatch while paused$/ }),
  rule("a checkpoint holds dispatches back", { fold: weakened.checkpointHolds }, { calls: [], ...question, breaks: /^a dispatch before the answer to a checkpoint$/ }),
  rule("the cause of a dispatch is accepted", { fold: weakened.causeIsAccepted }, { calls: [], faults: { suspect: 1 }, breaks: /^(two open dispatches|a dispatch whose cause)/ }),
];
export const leftOut: readonly LeftOut[] = [...switches, ...looks, ...ends, ...dispatches];
