/** Who asks after a process gets an answer in time, also while what the process itself asks does not answer. */
import type { Supervision } from "@loopledger/shared/runtime";

/** What a probe waits for the ledger at most, in ms. */
export const probeMs = 1_000;

/** The answer, or `otherwise` where none comes within `probeMs` or it is a refusal. */
export function within<T>(part: Pick<ReturnType<Supervision["part"]>, "after">, answer: Promise<T>, otherwise: T): Promise<T> {
  return new Promise((resolve) => {
    const cancel = part.after(probeMs, () => resolve(otherwise));
    const say = (value: T): void => {
      cancel();
      resolve(value);
    };
    answer.then(say, () => say(otherwise));
  });
}
