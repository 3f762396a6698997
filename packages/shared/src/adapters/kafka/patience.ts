/**
 * How long and how often something is tried again while brokers come and go.
 *
 * Q1. A try that failed is followed by a fresh look at the metadata, so that the next one goes to whoever leads now.
 * Q2. Pauses grow to half a second and no further, so a cluster that is back is found within that.
 * Q3. What is thrown in the end is from the catalogue, with the last failure as its cause.
 */
import { isLoopledgerError, LoopledgerError } from "../../core/errors.ts";
import type { Clock } from "../../ports/index.ts";
import { BrokerAnswer } from "./broker-codes.ts";
import { type KafkaConnection, troubleOf } from "./connection.ts";
import { type Topology, TopicMissing, TopologyClosed } from "./topology.ts";

const PAUSE_FIRST_MS = 50;
const PAUSE_FACTOR = 1.5;
const PAUSE_MAX_MS = 500;
/** A topic that no broker has known for so long was deleted. */
const MISSING_MS = 4_000;

/** Milliseconds before try number `tries` + 1; the first repeat comes at once, for a leader that has only moved. */
export function pauseAfter(tries: number): number {
  return tries <= 1 ? 0 : Math.min(PAUSE_MAX_MS, PAUSE_FIRST_MS * PAUSE_FACTOR ** (tries - 2));
}

export function isClosedError(): LoopledgerError {
  return new LoopledgerError("ledger_closed", "The ledger is closed.");
}

export interface Unreached {
  readonly topic: string;
  readonly connection: Pick<KafkaConnection, "ssl">;
}

export function unreachable({ topic, connection }: Unreached, cause: unknown): LoopledgerError {
  const trouble = troubleOf(cause, connection);
  const detail = trouble?.why ?? (cause instanceof Error ? cause.message : String(cause));
  const next = trouble?.next ?? (cause instanceof BrokerAnswer ? cause.mend : null);
  return new LoopledgerError("ledger_unreachable", `The topic ${topic} cannot be reached: ${detail}`, { cause, ...(next !== null && { next }) });
}

function topicGone(topic: string): LoopledgerError {
  return new LoopledgerError("ledger_lost", `The ledger topic ${topic} is gone: it was deleted while this process had it open.`);
}

/** Looks at the metadata again and says whether the topic has been missing for too long. */
export class Recovery {
  readonly #topology: Topology;
  readonly #clock: Clock;
  #missingSince: number | null = null;

  constructor(topology: Topology, clock: Clock) {
    this.#topology = topology;
    this.#clock = clock;
  }

  /** Throws `ledger_lost` where the ledger's topic is gone, else whatever kept the brokers from answering. */
  async look(): Promise<void> {
    try {
      await this.#topology.refresh();
      this.#missingSince = null;
    } catch (error) {
      if (!(error instanceof TopicMissing)) throw error;
      this.#missingSince ??= this.#clock.monotonic();
      if (this.#topology.isLedger && this.#clock.monotonic() - this.#missingSince > MISSING_MS) throw topicGone(this.#topology.topic);
      throw error;
    }
  }
}

export interface Persistence {
  readonly topology: Topology;
  readonly clock: Clock;
  readonly patienceMs: number;
  /** Looked at after each failure, before the next try: throws where going on would be wrong. */
  readonly check: () => Promise<void>;
}

/** Tries until it works, or until the patience is over: then `ledger_unreachable`. Errors of the catalogue are thrown on at once. */
export async function persist<T>(attempt: () => Promise<T>, { topology, clock, patienceMs, check }: Persistence): Promise<T> {
  const startedAt = clock.monotonic();
  const recovery = new Recovery(topology, clock);
  let step: () => Promise<T | null> = attempt;
  const recover = async (): Promise<null> => {
    await recovery.look();
    await check();
    return null;
  };
  for (let tries = 1; ; ) {
    try {
      const value = await step();
      if (step === attempt) return value as T;
      step = attempt;
    } catch (error) {
      if (isLoopledgerError(error)) throw error;
      if (error instanceof TopologyClosed) throw isClosedError();
      if (clock.monotonic() - startedAt > patienceMs) throw unreachable(topology, error);
      await topology.pause(pauseAfter(tries));
      tries += 1;
      step = recover;
    }
  }
}

/** Learns for the first time who leads the topic. A missing topic is told at once, brokers that are away are waited for. */
export async function meetTopic(topology: Topology, clock: Clock): Promise<void> {
  const startedAt = clock.monotonic();
  for (let tries = 1; ; tries++) {
    try {
      await topology.refresh();
      return;
    } catch (error) {
      if (error instanceof TopicMissing) {
        throw new LoopledgerError("ledger_unreachable", `There is no topic ${topology.topic}.`, {
          next: "Make the topics with `loopledger topics apply`; services never make them.", cause: error,
        });
      }
      if (topology.isImpatient || clock.monotonic() - startedAt > topology.limits.readMs) throw unreachable(topology, error);
      await topology.pause(pauseAfter(tries));
    }
  }
}
