/** What goes wrong beside the sessions, as one line for the person who watches: warnings and errors, and the same one only once in a row. */
import { messageOf } from "@loopledger/shared/core/errors";
import type { Log } from "@loopledger/shared/runtime";
import { oneLine } from "./telling.ts";

export function spokenLog(tell: (sentence: string) => void): Log {
  let last = "";
  const say = (given: unknown, message?: unknown): void => {
    const sentence = sentenceOf(given, message);
    if (sentence !== last) tell(sentence);
    last = sentence;
  };
  const nothing = (): void => undefined;
  const log: Log = { debug: nothing, info: nothing, warn: say as Log["warn"], error: say as Log["error"], child: () => log };
  return log;
}

function sentenceOf(given: unknown, message: unknown): string {
  const what = typeof given === "string" ? given : typeof message === "string" ? message : "something went wrong";
  const { err, session } = (given !== null && typeof given === "object" ? given : {}) as { readonly err?: unknown; readonly session?: unknown };
  const why = err === undefined ? "" : `: ${oneLine(messageOf(err))}`;
  return `  ! ${typeof session === "string" ? `${session}: ` : ""}${what}${why}`;
}
