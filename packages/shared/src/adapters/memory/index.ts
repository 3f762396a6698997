/** Every port in memory, with virtual time and seeded faults: for simulation and for tests. */
export type { LedgerFaults, OwnershipFaults, ReadModelFaults } from "./faults.ts";
export { createMemoryLedger, type MemoryHandleOptions, type MemoryLedger, type MemoryLedgerOptions } from "./ledger.ts";
export { createMemoryProcess, type MemoryProcess } from "./process.ts";
export { createSeededIds, type SeededRandom, seededRandom } from "./random.ts";
export { createVirtualClock, type VirtualClock } from "./virtual-clock.ts";
export { createMemoryBlobs, type MemoryBlobs } from "./blobs.ts";
export { createMemoryDeadLetters } from "./dead-letters.ts";
export { createMemoryInbox, type MemoryInbox, type MemoryInboxOptions } from "./inbox.ts";
export { createMemoryLandmarks, type MemoryLandmarks } from "./landmarks.ts";
export { createMemoryHosts, type MemoryHosts } from "./hosts.ts";
export { createMemoryOwnership, type MemoryOwnership, type MemoryOwnershipOptions } from "./ownership.ts";
export { createMemoryReadModel, type MemoryReadModel, type MemoryReadModelOptions } from "./read-model.ts";
export { createMemoryStatusFeed, type MemoryFeedRecord, type MemoryStatusFeed, type MemoryStatusFeedOptions } from "./status-feed.ts";
