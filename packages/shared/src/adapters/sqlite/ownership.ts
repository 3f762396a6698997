/** Leases on rows of a SQLite file. They decide who should try; no call throws, and losing all of them breaks nothing. */
import { join } from "node:path";
import type { OwnerId } from "../../core/brand.ts";
import type { Clock, Liveness, Ownership } from "../../ports/index.ts";
import { type LivenessFile, openLivenessFile } from "./liveness-file.ts";

export interface SqliteOwnershipOptions {
  /** The data folder. */
  readonly folder: string;
  /** Its `monotonic` must be one that all processes of the host share. */
  readonly clock: Clock;
}

export function openSqliteOwnership({ folder, clock }: SqliteOwnershipOptions): Ownership {
  const file = openLivenessFile(join(folder, "liveness.db"));
  return {
    register: async (ownerId, ttlMs) => {
      const now = clock.monotonic();
      // A row that is over says the same as none.
      file.run(({ sweepTaken, sweepOwners, sweepMembers }) => [sweepTaken.run({ now }), sweepOwners.run({ now }), sweepMembers.run({ now })]);
      const lease = createLiveness({ file, clock, ownerId, ttlMs });
      await lease.renew();
      return lease;
    },
    holder: async (ownerId) => {
      const row = file.run(({ holder }) => ({ live: holder.get({ owner: ownerId, now: clock.monotonic() }) !== undefined }));
      if (row === null) return "unreachable";
      return row.live ? "live" : "expired";
    },
    tryTake: async (resource, by, ttlMs) => {
      const now = clock.monotonic();
      const taken = file.run(({ take }) => take.run({ resource, owner: by, expires: now + ttlMs, ttl: ttlMs, now }));
      return taken?.changes === 1;
    },
    gather: async (group, member, ttlMs) => {
      const now = clock.monotonic();
      return file.run(({ join, leave, members }) => {
        if (ttlMs > 0) join.run({ member_of: group, owner: member, expires: now + ttlMs, ttl: ttlMs });
        else leave.run({ member_of: group, owner: member });
        return members.all({ member_of: group, now }).map((row) => String(row["owner"]));
      });
    },
    close: async () => file.close(),
  };
}

/** A row that was once written and is gone, or over, is lost for good: a renewal never brings it back. */
function createLiveness(options: { file: LivenessFile; clock: Clock; ownerId: OwnerId; ttlMs: number }): Liveness {
  const { file, clock, ownerId: owner, ttlMs } = options;
  let deadline = Number.NEGATIVE_INFINITY;
  let state: "new" | "held" | "lost" = "new";
  const write = (now: number): boolean | null => {
    const expires = now + ttlMs;
    const done = file.run(({ register, renew }) =>
      state === "new" ? register.run({ owner, expires, ttl: ttlMs }) : renew.run({ owner, expires, now }));
    return done === null ? null : done.changes === 1;
  };
  return {
    valid: () => state === "held" && clock.monotonic() < deadline,
    renew: async () => {
      if (state === "lost") return false;
      const now = clock.monotonic();
      const written = write(now);
      if (written === true) {
        state = "held";
        deadline = now + ttlMs;
      } else if (written === false) state = "lost";
      return written === true;
    },
    release: async () => {
      if (state === "held") file.run(({ release }) => release.run({ owner }));
      state = "lost";
    },
  };
}
