/**
 * What processes of a world stand on, as variables that each of them is started with: a data folder, or topics on a Kafka and keys on a
 * Redis of the tests. Nothing of the tests' own environment gets through.
 */
import type { Ledger, Ownership, ReadModel } from "@loopledger/shared/ports";
import { silentLog } from "@loopledger/shared/runtime";
import { createSystemClock, createSystemIds } from "@loopledger/shared/system";
import { openPorts } from "@loopledger/composition/ports/open-ports";
import { readDeployment } from "@loopledger/composition/settings/deployment";

export type Variables = Readonly<Record<string, string>>;

export interface Grounds {
  readonly name: string;
  readonly variables: Variables;
  /** Takes away what was made beside the folder. */
  remove(): Promise<void>;
}
export interface OpenGrounds {
  readonly ledger: Ledger;
  readonly ownership: Ownership;
  readonly views: ReadModel | undefined;
  close(): Promise<void>;
}

export const folderGrounds: Grounds = { name: "SQLite", variables: {}, remove: () => Promise.resolve() };

/** The environment of a process: what it needs of this one, and the grounds. */
export function environmentOn({ variables }: Grounds, more: Variables = {}): Variables {
  const kept = Object.entries(process.env).filter(([name, value]) => value !== undefined && !name.startsWith("LOOPLEDGER_"));
  return { ...(Object.fromEntries(kept) as Variables), ...variables, ...more };
}

/** The ports of a process on the grounds, as a service opens them. */
export function openGrounds(grounds: Grounds, folder: string, options: { readonly views?: boolean } = {}): Promise<OpenGrounds> {
  const deployment = readDeployment(grounds.variables, folder);
  const opening = { clock: createSystemClock(), ids: createSystemIds(), log: silentLog, stays: true, views: options.views ?? false };
  return openPorts(deployment, opening).then(({ ledger, ownership, views, close }) => ({ ledger, ownership, views, close }));
}
