/** The ports on SQLite files in one data folder, for the processes of one host. */
export { openSqliteLedger, type SqliteLedgerOptions } from "./ledger.ts";
export { openSqliteOwnership, type SqliteOwnershipOptions } from "./ownership.ts";
export { openSqliteReadModel, type SqliteReadModelOptions } from "./read-model.ts";
