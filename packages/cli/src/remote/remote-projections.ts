/** Read models stand beside their ledger: they are made and compared there. */
import { UsageError } from "../errors.ts";

export function refuseRemoteProjections(): never {
  throw new UsageError("projections works on the ledger and its read models themselves.", { next: "Type it where they are, without --url; GET /v1/projections shows them." });
}
