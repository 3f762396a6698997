/**
 * The scripts of the views. Each runs alone on the server, so what it compares is what it changes.
 *
 * S1. A step is the compare of one cursor and everything that hangs on it. The cursor is moved last: where the script fails
 *     on its way, the same step is due again and writes the same.
 * S2. A reader is shown a projection only where it is its own ledger's.
 * S3. Nothing is counted, compared or ordered as a number that could not be one: offsets are compared as their digits.
 *
 * Every script begins with KEYS[1] = `<prefix>:projections`, ARGV[1] = `<prefix>:<projection>:`, ARGV[2] = the projection
 * and ARGV[3] = whose it has to be.
 */
import type { Script } from "./connection.ts";

const head = `local projections, base, projection, own = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local owner = redis.call("HGET", projections, projection)
`;
const script = (lua: string): Script => ({ keys: 1, lua: head + lua });

/**
 * ARGV: 4 partition, 5 from, 6 to, 7 key of the active projection, 8 key of its ledger, then 6 for each view: session, time,
 * entry, document, "1" where it has a snapshot, snapshot. {1} applied · {0} the cursor is not at `from` · {-1, owner} the
 * projection is not free.
 */
export const writeViews = script(`local cursors, at = base .. "cursors", "0"
if owner == own then at = redis.call("HGET", cursors, ARGV[4]) or "0" end
if at ~= ARGV[5] then return {0} end
if owner and owner ~= own then return {-1, owner} end
local sessions, entries, alive, snapshots = base .. "sessions", base .. "entries", base .. "alive", base .. "snapshots"
local function places(entry)
  local names, list = {}, cjson.decode(entry)
  names[1] = base .. "by-disposition:" .. list[1]
  for i = 2, #list do names[i] = base .. "by-label:" .. list[i] end
  return names
end
for i = 9, #ARGV, 6 do
  local id, time, entry = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  redis.call("SET", base .. "session:" .. id, ARGV[i + 3])
  local before = redis.call("HGET", entries, id)
  if before ~= entry then
    if before then for _, place in ipairs(places(before)) do redis.call("ZREM", place, id) end end
    redis.call("HSET", entries, id, entry)
  end
  redis.call("ZADD", sessions, time, id)
  for _, place in ipairs(places(entry)) do redis.call("ZADD", place, time, id) end
  if ARGV[i + 4] == "1" then
    redis.call("ZADD", alive, 0, id)
    redis.call("HSET", snapshots, id, ARGV[i + 5])
  else
    redis.call("ZREM", alive, id)
    redis.call("HDEL", snapshots, id)
  end
end
if "ledger:" .. (redis.call("GET", ARGV[8]) or "") ~= own then
  redis.call("SET", ARGV[7], "main")
  redis.call("SET", ARGV[8], string.sub(own, 8))
end
redis.call("HSET", projections, projection, own)
redis.call("HSET", cursors, ARGV[4], ARGV[6])
return {1}`);

/** Partitions and their cursors, one after the other. */
export const readCursors = script(`if owner ~= own then return {} end
return redis.call("HGETALL", base .. "cursors")`);

/** ARGV: 4 session. Its document, nil where there is none, 0 where there has to be one. */
export const readView = script(`if owner ~= own then return false end
local document = redis.call("GET", base .. "session:" .. ARGV[4])
if not document and redis.call("HEXISTS", base .. "entries", ARGV[4]) == 1 then return 0 end
return document`);

/**
 * ARGV: 4 name of the sorted set, 5 name of another one in which a row has to stand too or "", 6 and 7 time and session of the
 * row before or "", 8 rows wanted, 9 rows looked at where not every row counts. {"1" where more may follow, time and session of the last row looked at,
 * then session, time and document of each row; a document is nil where it is missing}.
 */
export const listViews = script(`if owner ~= own then return {"0", "", ""} end
local set, other, wanted, looked = base .. ARGV[4], false, tonumber(ARGV[8]), tonumber(ARGV[9])
if ARGV[5] ~= "" then
  other = base .. ARGV[5]
  if redis.call("ZCARD", other) < redis.call("ZCARD", set) then set, other = other, set end
else
  looked = wanted
end
-- By bytes, as the set orders them; a comparison of strings would go by the server's language.
local function isBelow(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then return x < y end
  end
  return #a < #b
end
local first = 0
if ARGV[6] ~= "" then
  first = redis.call("ZCOUNT", set, "(" .. ARGV[6], "+inf")
  local last = first + redis.call("ZCOUNT", set, ARGV[6], ARGV[6])
  while first < last do
    local middle = math.floor((first + last) / 2)
    if isBelow(redis.call("ZREVRANGE", set, middle, middle)[1], ARGV[7]) then last = middle else first = middle + 1 end
  end
end
local rows = redis.call("ZREVRANGE", set, first, first + looked - 1, "WITHSCORES")
local found, count, i = {"0", "", ""}, 0, 1
while i < #rows and count < wanted do
  local id, time = rows[i], rows[i + 1]
  found[2], found[3] = time, id
  if not other or redis.call("ZSCORE", other, id) then
    count = count + 1
    found[#found + 1] = id
    found[#found + 1] = time
    found[#found + 1] = redis.call("GET", base .. "session:" .. id) or ""
  end
  i = i + 2
end
if #rows == 2 * looked or i < #rows then found[1] = "1" end
return found`);

/** ARGV: 4 session after which to begin or "", 5 how many. {cursors as pairs, sessions, snapshots}, all of one moment. */
export const readAlive = script(`if owner ~= own then return {{}, {}, {}} end
local after = ARGV[4] == "" and "-" or "(" .. ARGV[4]
local ids = redis.call("ZRANGEBYLEX", base .. "alive", after, "+", "LIMIT", 0, ARGV[5])
local found = {}
for i, id in ipairs(ids) do found[i] = redis.call("HGET", base .. "snapshots", id) or "" end
return {redis.call("HGETALL", base .. "cursors"), ids, found}`);

/**
 * Removes a part of a projection. ARGV: 4 how many sessions, 5 what the projection is marked with from now on; ARGV[3] is what
 * it has to be marked with. "done" where nothing is left or it is not so marked; else the mark.
 */
export const clearViews = script(`if owner ~= own then return "done" end
local mark, sessions, entries = ARGV[5], base .. "sessions", base .. "entries"
redis.call("HSET", projections, projection, mark)
redis.call("UNLINK", base .. "cursors", base .. "alive", base .. "snapshots")
local rows = redis.call("ZRANGE", sessions, 0, tonumber(ARGV[4]) - 1)
for _, id in ipairs(rows) do
  local list = cjson.decode(redis.call("HGET", entries, id) or "[\\"\\"]")
  redis.call("ZREM", base .. "by-disposition:" .. list[1], id)
  for i = 2, #list do redis.call("ZREM", base .. "by-label:" .. list[i], id) end
  redis.call("UNLINK", base .. "session:" .. id)
  redis.call("HDEL", entries, id)
  redis.call("ZREM", sessions, id)
end
if redis.call("EXISTS", sessions) == 1 then return mark end
redis.call("HDEL", projections, projection)
return "done"`);
