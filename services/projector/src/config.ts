/** The environment of the projector as a process of its own; every mistake is named at once. */
import { z } from "zod";

const environment = z.object({
  LOOPLEDGER_DATA: z.string().min(1).default(".loopledger"),
  LOOPLEDGER_PROJECTION: z.string().regex(/^[A-Za-z0-9._-]{1,64}$/, "letters, digits and . _ - only").optional(),
});

export interface ProjectorConfig {
  /** The data folder. */
  readonly folder: string;
  readonly options: { readonly projection?: string };
}

/** Throws a `ZodError` that names every fault. */
export function readConfig(variables: Readonly<Record<string, string | undefined>> = process.env): ProjectorConfig {
  const { LOOPLEDGER_DATA: folder, LOOPLEDGER_PROJECTION: projection } = environment.parse(variables);
  return { folder, options: projection === undefined ? {} : { projection } };
}

/** 0 after an orderly stop, 7 where the ledger is not the one that the views were made of. */
export function exitCodeOf(reason: Error | null): number {
  return reason === null ? 0 : 7;
}
