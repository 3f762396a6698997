/**
 * One table of cases for the fence, for every place where it stands: before an append, in the fold, and in a read model's compare.
 * The session in view is at epoch 2, held by W for builds and reviews, who has written n = 1, 2 and 3 of the build that is open.
 */
import type { Epoch, OwnerId } from "../core/brand.ts";
import type { VoidReason } from "../core/session/state.ts";

export interface FenceCase {
  readonly name: string;
  readonly epoch: Epoch;
  readonly ownerId: OwnerId;
  readonly n: number;
  /** null: it may be written. */
  readonly expected: Extract<VoidReason, "stale_epoch" | "rival" | "duplicate" | "gap"> | null;
}
type Written = { readonly epoch: number; readonly ownerId?: string; readonly n: number };
const one = (name: string, written: Written, expected: FenceCase["expected"]): FenceCase => ({
  name, epoch: written.epoch as Epoch, ownerId: (written.ownerId ?? "W") as OwnerId, n: written.n, expected,
});

export const fencedAt = { epoch: 2 as Epoch, ownerId: "W" as OwnerId, n: 3 } as const;
export const fenceCases: readonly FenceCase[] = [
  one("the owner's next record", { epoch: 2, n: 4 }, null),
  one("the owner's last record once more", { epoch: 2, n: 3 }, "duplicate"),
  one("an early record of the owner once more", { epoch: 2, n: 1 }, "duplicate"),
  one("a jump over one record", { epoch: 2, n: 5 }, "gap"),
  one("a far jump", { epoch: 2, n: 1_000_000 }, "gap"),
  one("the former owner's next record", { epoch: 1, ownerId: "V", n: 2 }, "stale_epoch"),
  one("an older epoch of the same process", { epoch: 1, n: 4 }, "stale_epoch"),
  one("an older epoch, with an n that would fit", { epoch: 1, ownerId: "V", n: 4 }, "stale_epoch"),
  one("another process under the current epoch", { epoch: 2, ownerId: "X", n: 4 }, "rival"),
  one("another process under the current epoch, repeated", { epoch: 2, ownerId: "X", n: 3 }, "rival"),
  one("an epoch that nobody has claimed", { epoch: 3, n: 1 }, "gap"),
  one("a far epoch", { epoch: 1_000_000, n: 4 }, "gap"),
];

export interface ClaimCase {
  readonly name: string;
  readonly epoch: Epoch;
  readonly ownerId: OwnerId;
  readonly expected: Extract<VoidReason, "stale_epoch" | "rival" | "duplicate" | "gap"> | null;
}
/** Claims of the open dispatch against the same session. */
export const claimCases: readonly ClaimCase[] = [
  { name: "exactly the next epoch", epoch: 3 as Epoch, ownerId: "X" as OwnerId, expected: null },
  { name: "the owner's own next epoch", epoch: 3 as Epoch, ownerId: "W" as OwnerId, expected: null },
  { name: "the current epoch by another process", epoch: 2 as Epoch, ownerId: "X" as OwnerId, expected: "rival" },
  { name: "the accepted claim once more", epoch: 2 as Epoch, ownerId: "W" as OwnerId, expected: "duplicate" },
  { name: "an older epoch", epoch: 1 as Epoch, ownerId: "X" as OwnerId, expected: "stale_epoch" },
  { name: "two epochs on", epoch: 4 as Epoch, ownerId: "X" as OwnerId, expected: "gap" },
  { name: "an invented epoch far away", epoch: 1_000_000 as Epoch, ownerId: "X" as OwnerId, expected: "gap" },
];
