/** The environment of the intake as a process of its own. */
import { type ServiceSettings, readService } from "@loopledger/composition/settings/service";

/** Throws `InvalidSettings` with every fault. */
export function readConfig(): ServiceSettings {
  return readService({ variables: process.env, words: process.argv.slice(2), cwd: process.cwd() }, { port: 0 });
}
