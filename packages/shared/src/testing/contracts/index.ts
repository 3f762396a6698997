/** One suite a port. Every adapter runs the same: behaviour seen from outside does not depend on what is below. */
export { type BlobsWorld, blobsContract } from "./blobs.ts";
export { type DeadLettersWorld, deadLettersContract } from "./dead-letters.ts";
export { type InboxWorld, inboxContract } from "./inbox.ts";
export { type LandmarksWorld, landmarksContract } from "./landmarks.ts";
export { ledgerContract } from "./ledger.ts";
export type { LedgerWorld } from "./ledger-world.ts";
export { type OwnershipWorld, ownershipContract } from "./ownership.ts";
export { readModelContract } from "./read-model.ts";
export type { ReadModelWorld } from "./read-model-world.ts";
export { type SchemasWorld, schemasContract } from "./schemas.ts";
export { statusFeedContract, type StatusFeedWorld } from "./status-feed.ts";
export type { Vitest, World } from "./suite.ts";
