/** Every two kinds of faults together, for every contract of a call: what nobody thought of putting side by side. */
import { twins } from "./configurations.ts";
import type { Configuration, FaultKind } from "./model/configuration.ts";

const kinds: readonly FaultKind[] = [
  "crash", "drop", "suspect", "duplicate", "lost", "failed", "silent", "cycleFailed", "retry", "handBack", "inconclusive", "checkChanged",
  "cancel", "pause", "pauseNow", "checkpoint", "reopen",
];
const contracts = ["lookup", "idempotent", "unsafe"] as const;
const policies = [
  { name: "a protected call", approvals: [{ before: "deploy" }] },
  { name: "a question after a failure", approvals: [{ onFailure: "any" as const, expiresSeconds: 1 }] },
] as const;

/** Two different ones once each, or the same one twice. */
function together(one: FaultKind, other: FaultKind): Configuration["faults"] {
  return one === other ? { [one]: 2 } : { [one]: 1, [other]: 1 };
}

export const pairs: readonly Configuration[] = contracts.flatMap((contract) => policies.flatMap(({ name, approvals }) =>
  kinds.flatMap((one, at) => kinds.slice(at).map((other): Configuration => {
    const faults = together(one, other);
    return {
      name: `${contract}, ${name}: ${one} and ${other}`, processes: faults.suspect ? twins : twins.slice(0, 1), calls: [{ name: "deploy", contract }],
      fences: true, iterations: 1, lagMax: 1, flightsMax: 3, answers: ["APPROVE", "REJECT"], expiresSeconds: 1, faults,
      bounds: { takeovers: 2, breakerSame: 2, checkTries: 2 }, goal: { policy: { failureFirst: false, approvals: [...approvals] } },
    };
  }))));
