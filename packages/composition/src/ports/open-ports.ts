/** Opens the ports of a deployment: on the data folder, or on Kafka and Redis. What is not asked for is not loaded. */
import type { Blobs, Clock, Ids, Ledger, Ownership, ReadModel, Schemas } from "@loopledger/shared/ports";
import type { Log } from "@loopledger/shared/runtime";
import type { Deployment } from "../settings/deployment.ts";

export interface DataPorts {
  readonly ledger: Ledger;
  readonly ownership: Ownership;
  readonly blobs: Blobs;
  readonly views?: ReadModel;
  /** Only where a registry is configured; the ledger uses it by itself. */
  readonly schemas?: Schemas;
}
export interface Opening {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Nothing is written: a data folder without a ledger stays as it is and reads as empty. */
  readonly reads?: boolean;
  /** Open the read models too. */
  readonly views?: boolean;
}
export interface OpenPorts extends DataPorts {
  /** Closes all of them; what was appended is on the ledger. */
  close(): Promise<void>;
}

/** Throws errors of the catalogue: `ledger_unreachable`, `views_unreachable`, `ledger_lost`, … and what a wrong set-up is refused with. */
export async function openPorts(deployment: Deployment, opening: Opening): Promise<OpenPorts> {
  const ports = await portsOf(deployment, opening);
  return {
    ...ports,
    close: async () => {
      await ports.views?.close();
      await ports.ownership.close();
      await ports.ledger.close();
    },
  };
}

async function portsOf(deployment: Deployment, opening: Opening): Promise<DataPorts> {
  return (await import("./embedded.ts")).openEmbedded(deployment, opening);
}
