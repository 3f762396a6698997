/** The scripts of the leases and of the groups. Each touches one key, and no lease is touched by anybody who does not hold its value. */
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

/**
 * KEYS: the group, a sorted set of its members by the time until which they count, on the server's clock. ARGV: member, ttl in ms.
 * Gives the members in order; the group lasts as long as its last member does.
 */
export const gatherGroup: Script = {
  keys: 1,
  lua: `local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call("ZADD", KEYS[1], now + ARGV[2], ARGV[1])
redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", now)
local last = redis.call("ZRANGE", KEYS[1], -1, -1, "WITHSCORES")
if last[2] then redis.call("PEXPIREAT", KEYS[1], string.format("%.0f", last[2])) end
local members = redis.call("ZRANGE", KEYS[1], 0, -1)
table.sort(members)
return members`,
};
