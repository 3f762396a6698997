/**
 * What `infra up` started in this data folder. The commands that look after Kafka find it there, so that `infra up && topics apply &&
 * doctor` needs nothing exported. All others work on what the variables say: a shell never changes its ledger because something runs beside it.
 */
import { join } from "node:path";
import type { CommandContext } from "../context.ts";
import type { Variables } from "../environment.ts";

export interface StartedHere {
  /** The context's variables, and the addresses of what was started where they name none. */
  readonly variables: Variables;
  /** Of the Kafka that was started, as LOOPLEDGER_KAFKA_BROKERS takes them. */
  readonly brokers: string;
}

/** Null where the variables name a Kafka, and where none that was started here runs. */
export async function startedHere({ environment: { variables, kafkaBrokers }, dataFolder }: CommandContext): Promise<StartedHere | null> {
  if (kafkaBrokers !== null) return null;
  const { status } = await import("@loopledger/infra/launcher");
  const { env, parts } = status(join(dataFolder, "infra"));
  const brokers = env["LOOPLEDGER_KAFKA_BROKERS"];
  const runs = parts.some(({ part }) => part === "kafka") && parts.every(({ part, state }) => part !== "kafka" || state === "running");
  if (brokers === undefined || !runs) return null;
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined && value !== ""));
  return { variables: { ...env, ...given }, brokers };
}
