/** Opens the ports of a deployment: on the data folder, or on Kafka and Redis. What is not asked for is not loaded. */
import type { Deployment } from "../settings/deployment.ts";
import type { DataPorts, Opening } from "./data-ports.ts";

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
      await ports.inbox?.close();
      await ports.deadLetters?.close();
      await ports.feed?.close();
      await ports.views?.close();
      await ports.ownership.close();
      await ports.ledger.close();
    },
  };
}

async function portsOf(deployment: Deployment, opening: Opening): Promise<DataPorts> {
  const { distributed } = deployment;
  if (distributed === null) return (await import("./embedded.ts")).openEmbedded(deployment, opening);
  return (await import("./distributed.ts")).openDistributed({ ...deployment, distributed }, opening);
}
