/** The environment of the projector as a process of its own. */
import { type ServiceSettings, readService } from "@loopledger/composition/settings/service";

/** Throws `InvalidSettings` with every fault. */
export function readConfig(): ServiceSettings {
  return readService({ variables: process.env, words: process.argv.slice(2), cwd: process.cwd() }, { port: 0 });
}

/** `LOOPLEDGER_PROJECTION` names the read model; left out, it is the one in use. */
export function optionsOf({ deployment: { projection } }: ServiceSettings): { readonly projection?: string } {
  return projection === null ? {} : { projection };
}
