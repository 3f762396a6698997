/** Every port in memory, with virtual time and seeded faults: for simulation and for tests. */
export type { LedgerFaults, OwnershipFaults, ReadModelFaults } from "./faults.ts";
export { createMemoryLedger, type MemoryHandleOptions, type MemoryLedger, type MemoryLedgerOptions } from "./ledger.ts";
export { createMemoryProcess, type MemoryProcess } from "./process.ts";
export { createSeededIds, type SeededRandom, seededRandom } from "./random.ts";
export { createVirtualClock, type VirtualClock } from "./virtual-clock.ts";
