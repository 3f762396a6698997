/** The schemas of a prefix's topics on the registry: registered before any process of a release runs. */
import { openRegistrySchemas, type RegistryOptions, type RegistrySchemas, type SubjectState } from "@loopledger/shared/registry";
import { createSystemClock } from "@loopledger/shared/system";

export type { SubjectState };

/** Where it is, and what TLS needs to know (PEM texts). */
export interface RegistryPlace {
  readonly url: string;
  readonly tls?: RegistryOptions["tls"];
}

export function registryAt({ url, tls }: RegistryPlace): RegistrySchemas {
  return openRegistrySchemas({ url, tls, clock: createSystemClock(), log: { warn: () => undefined } });
}

/** Registers what is not registered; nothing where all is. Throws `schema_incompatible` before anything is registered, `registry_unreachable`. */
export function publishSchemas(place: RegistryPlace, prefix: string): Promise<readonly SubjectState[]> {
  return registryAt(place).publishSchemas(prefix);
}
