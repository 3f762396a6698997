/** Codes that programs may rely on. A code is added here when it is released; none is ever taken out or moved. */
import { describe, expect, it } from "vitest";
import { type ErrorThen, errorCatalogue } from "./errors.ts";

const released: { readonly [T in ErrorThen]?: readonly string[] } = {
  retry: [
    "ledger_unreachable", "ledger_full", "views_unreachable", "registry_unreachable", "unknown_schema", "blobs_unreachable",
  ],
  stop: [
    "ledger_read_only", "ledger_corrupt", "ledger_lost", "ledger_newer", "ledger_mismatch", "batch_too_large", "ledger_closed",
    "views_newer", "redis_evicts", "schema_unpublished", "schema_incompatible", "address_refused", "address_in_use",
    "invalid_cursor",
  ],
};

describe("the released codes of errors", () => {
  it.each(Object.entries(released))("say as ever what a caller may do: %s", (then, codes) => {
    const now = new Map<string, string>(errorCatalogue().map((entry) => [entry.code, entry.then]));
    expect(codes.filter((code) => now.get(code) !== then)).toEqual([]);
  });
});
