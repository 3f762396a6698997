/** The environment of the gateway as a process of its own; every mistake is named at once. */
import { z } from "zod";

const environment = z.object({
  LOOPLEDGER_DATA: z.string().min(1).default(".loopledger"),
  LOOPLEDGER_PORT: z.coerce.number().int().min(0).max(65_535).default(7_420),
});

export interface GatewayConfig {
  /** The data folder. */
  readonly folder: string;
  readonly port: number;
}

/** Throws a `ZodError` that names every fault. */
export function readConfig(variables: Readonly<Record<string, string | undefined>> = process.env): GatewayConfig {
  const { LOOPLEDGER_DATA: folder, LOOPLEDGER_PORT: port } = environment.parse(variables);
  return { folder, port };
}
