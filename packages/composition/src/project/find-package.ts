/**
 * A config finds the `loopledger` package through the command that runs it, wherever the config lies: nothing has to be
 * installed beside it, and it always talks to the release that reads it.
 */
import { registerHooks } from "node:module";

const api = new URL("../config-api.ts", import.meta.url).href;
let registered = false;

export function answerForLoopledger(): void {
  if (registered) return;
  registered = true;
  registerHooks({
    resolve: (specifier, context, next) => (specifier === "loopledger" ? { url: api, format: null, shortCircuit: true } : next(specifier, context)),
  });
}
