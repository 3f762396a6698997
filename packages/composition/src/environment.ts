/** The environment of every process that is composed here, read at this one edge. */
import { resolve } from "node:path";

export type Variables = Readonly<Record<string, string | undefined>>;

/** A config file may place its own things in the data folder: it finds it under the name that people set. */
export function announceDataFolder(folder: string): void {
  process.env["LOOPLEDGER_DATA"] = resolve(folder);
}
