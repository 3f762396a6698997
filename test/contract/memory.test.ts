import { blobsContract, landmarksContract, ledgerContract, ownershipContract, readModelContract } from "@loopledger/shared/contracts";
import {
  createMemoryBlobs, createMemoryLandmarks, createMemoryLedger, createMemoryOwnership, createMemoryReadModel, createVirtualClock, type LedgerFaults, type VirtualClock,
} from "@loopledger/shared/memory";
import * as vitest from "vitest";

ledgerContract(vitest, "memory", async () => {
  const ledger = createMemoryLedger({ clock: createVirtualClock() });
  return { open: async () => ledger.handle(), close: async () => {} };
});

/** Time goes on by itself while a test waits. */
function drive(clock: VirtualClock): () => Promise<void> {
  let going = true;
  const driven = (async () => {
    while (going) await clock.runUntilIdle();
  })();
  return async () => {
    going = false;
    await driven;
  };
}

ledgerContract(vitest, "memory, slow and in pieces", async () => {
  const clock = createVirtualClock();
  const ledger = createMemoryLedger({ clock, seed: 7 });
  const faults: LedgerFaults = { delayMs: [0, 20], lagMs: [0, 50], chunkMax: 5 };
  return { open: async () => ledger.handle({ faults }), close: drive(clock) };
});

ownershipContract(vitest, "memory", async () => {
  const clock = createVirtualClock();
  const ownership = createMemoryOwnership({ clock });
  return { open: async () => ownership.handle(), pass: clock.advance, close: async () => {} };
});

readModelContract(vitest, "memory", async () => {
  const store = createMemoryReadModel({ clock: createVirtualClock() });
  return { open: async (ledgerId) => store.handle({ ledgerId }), close: async () => {} };
});

blobsContract(vitest, "memory", async () => {
  const blobs = createMemoryBlobs();
  return { open: async () => blobs, close: async () => {} };
});

landmarksContract(vitest, "memory", async () => {
  const landmarks = createMemoryLandmarks();
  return {
    open: async () => landmarks.handle(), openUnreached: async () => landmarks.handle({ isReached: false }),
    forget: async () => landmarks.forget(), close: async () => {},
  };
});
