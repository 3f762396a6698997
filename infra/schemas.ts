/** The schemas of a prefix's topics on the registry: registered before any process of a release runs. */
import { openRegistrySchemas, type RegistrySchemas, type SubjectState } from "@loopledger/shared/registry";
import { createSystemClock } from "@loopledger/shared/system";

export type { SubjectState };

export function registryAt(url: string): RegistrySchemas {
  return openRegistrySchemas({ url, clock: createSystemClock(), log: { warn: () => undefined } });
}

/** Registers what is not registered; nothing where all is. Throws `schema_incompatible` before anything is registered, `registry_unreachable`. */
export function publishSchemas(url: string, prefix: string): Promise<readonly SubjectState[]> {
  return registryAt(url).publishSchemas(prefix);
}
