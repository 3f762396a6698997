/** The scripts of the leases. Each touches one key, and no lease is touched by anybody who does not hold its value. */
import type { Script } from "./connection.ts";

/** KEYS: the lease. ARGV: value, ttl in ms. 1 where it was still ours and was extended. */
export const extendLease: Script = {
  keys: 1,
  lua: `if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call("PEXPIRE", KEYS[1], ARGV[2])`,
};

/** KEYS: the lease. ARGV: value. */
export const releaseLease: Script = {
  keys: 1,
  lua: `if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call("DEL", KEYS[1])`,
};

/**
 * KEYS: the lease. 0 none, 1 a live one, 2 one that says nothing: it would last longer than its holder asked for, or for ever,
 * so somebody has changed it, and whether its holder lives has to be told by the ledger.
 */
export const lookAtLease: Script = {
  keys: 1,
  lua: `local value = redis.call("GET", KEYS[1])
if not value then return 0 end
local left = redis.call("PTTL", KEYS[1])
local asked = tonumber(string.match(value, " (%d+)$") or "0")
if left < 0 or left > asked then return 2 end
return 1`,
};
