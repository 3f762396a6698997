/**
 * Where the views lie. Other systems read the first three and `<prefix>:active`; the rest is this adapter's own.
 *
 * `<prefix>:<projection>:session:<id>` string, the status JSON · `…:by-disposition:<d>` sorted set, session by time ·
 * `…:cursors` hash, partition → next offset · `…:by-label:<name>=<value>` and `…:sessions` sorted sets, session by time ·
 * `…:entries` hash, session → JSON `[disposition, ...labels]`: in which sets it stands · `…:alive` sorted set, sessions in
 * order of id · `…:snapshots` hash, session → snapshot · `<prefix>:projections` hash, projection → whose it is ·
 * `<prefix>:active` string, the projection in use · `<prefix>:active-ledger` string, the ledger that chose it.
 */
export interface ViewKeys {
  readonly prefix: string;
  readonly projections: string;
  readonly active: string;
  readonly activeLedger: string;
  of(projection: string, name: string): string;
}

export function viewKeys(prefix: string): ViewKeys {
  return {
    prefix, projections: `${prefix}:projections`, active: `${prefix}:active`, activeLedger: `${prefix}:active-ledger`,
    of: (projection, name) => `${prefix}:${projection}:${name}`,
  };
}

/** Whose a projection is, as it stands in `<prefix>:projections`. */
export const ownerOf = (ledgerId: string): string => `ledger:${ledgerId}`;
/** A projection that is being removed: nobody reads it, and who wants to write it removes the rest first. */
export const clearingBy = (token: string): string => `clearing:${token}`;
export const isClearing = (owner: string): boolean => owner.startsWith("clearing:");
