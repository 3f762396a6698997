/** What is opened of a deployment, and what it is opened with. */
import type { Blobs, Clock, DeadLetters, Ids, Inbox, Ledger, Ownership, ReadModel, Schemas, StatusFeed } from "@loopledger/shared/ports";
import type { Log, Supervision } from "@loopledger/shared/runtime";

export interface DataPorts {
  readonly ledger: Ledger;
  readonly ownership: Ownership;
  readonly blobs: Blobs;
  readonly views?: ReadModel;
  /** Only where a registry is configured; the ledger uses it by itself. */
  readonly schemas?: Schemas;
  /** Only on Kafka; nothing is connected before it is used. */
  readonly inbox?: Inbox;
  readonly deadLetters?: DeadLetters;
  readonly feed?: StatusFeed;
}
export interface Opening {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Of a process that has one: reactors of the ports stand under their names there. */
  readonly supervision?: Supervision;
  /** The process serves until it is told to stop: a set-up that is wrong is refused, and a service that is away for a moment is waited for. */
  readonly stays?: boolean;
  /** Nothing is written: a data folder without a ledger stays as it is and reads as empty. */
  readonly reads?: boolean;
  /** Open the read models too. */
  readonly views?: boolean;
  /** Where they cannot be reached now, the process goes on without: it reads its sessions from the ledger's beginning. */
  readonly viewsMayBeAway?: boolean;
}
