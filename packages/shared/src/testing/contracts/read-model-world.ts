/** What the tests of a store of read models are given. */
import type { ReadModel } from "../../ports/index.ts";
import type { World } from "./suite.ts";

export interface ReadModelWorld extends World {
  /** Another process's handle on the views of a ledger. */
  open(ledgerId: string): Promise<ReadModel>;
}
