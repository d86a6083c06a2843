import { type Script, script } from "../connection/script.ts";

/*
 * Each script is one atomic step. Fields of `meta`: seq, chain (of the log), epoch, token (of the newest claim), node, until, lease (of the
 * lease that runs or has run out), parent, due (the date, while the session stands among those that are held), closed, removed, damaged (the seq where it was found to be). Redis refuses a script for want of memory at its first write or not at all.
 */

/** Milliseconds by the store's clock: Redis's own, or the one given for tests. */
const clock = `
local function clock(given)
  if given ~= '' then return tonumber(given) end
  local t = redis.call('TIME')
  return t[1] * 1000 + t[2] / 1000
end
`;

/** What is left of a lease. More than it was given means that the clock was set back since: then it is over, and the epoch protects the log. */
const remaining = `
local function remaining(ends, given, now)
  local left = tonumber(ends or 0) - now
  if left <= 0 or left > tonumber(given or 0) + 1000 then return 0 end
  return math.ceil(left)
end
`;

/** True for the newest claim. A token distinguishes two claims that got one epoch because the store was restored to an older state. */
const owns = `
local function owns(epoch, token, given, own)
  return tonumber(given) == tonumber(epoch or 0) and (own == '' or own == (token or ''))
end
`;

/*
 * A session with a date stands in one of two sets: in `dates` by that date, or in `held` by the end of its lease, so that a sweep does not walk
 * those that are held. A lease that ends by itself is found by `lapseScript`.
 */
const schedule = `
local function schedule(meta, dates, held, member, due)
  if due == '' then return end
  if due == 'never' then
    redis.call('ZREM', dates, member)
    if redis.call('ZREM', held, member) == 1 then redis.call('HDEL', meta, 'due') end
    return
  end
  local m = redis.call('HMGET', meta, 'node', 'until')
  if m[1] and m[2] then
    redis.call('HSET', meta, 'due', due)
    redis.call('ZADD', held, m[2], member)
    redis.call('ZREM', dates, member)
  else
    redis.call('ZADD', dates, due, member)
  end
end
`;

const hold = `
local function hold(meta, dates, held, member, ends)
  local date = redis.call('ZSCORE', dates, member)
  if date then
    redis.call('HSET', meta, 'due', date)
    redis.call('ZADD', held, ends, member)
    redis.call('ZREM', dates, member)
  else
    redis.call('ZADD', held, 'XX', ends, member)
  end
end
`;

const free = `
local function free(meta, dates, held, member)
  redis.call('HDEL', meta, 'node', 'until', 'lease')
  if redis.call('ZREM', held, member) == 0 then return end
  local date = redis.call('HGET', meta, 'due')
  if date then redis.call('ZADD', dates, 'NX', date, member) end
  redis.call('HDEL', meta, 'due')
end
`;

/** A comparing hash over the check sums of all facts so far; the same as `chainOf` in `fact-chain.ts`. */
const chained = `
local function chained(chain, sum) return (chain * 69069 + sum) % 4294967296 end
`;

/*
 * KEYS meta facts batches index due store held
 * ARGV expectedSeq epoch token batchId knownChain closes release due at session member channel parent (sum body)...
 * A session with a parent, which the batch names that opens it, stands in the set of that parent's children instead of `index`.
 */
export const appendScript: Script = script(`${owns}${schedule}${free}${chained}
local m = redis.call('HMGET', KEYS[1], 'seq', 'chain', 'epoch', 'token', 'closed', 'removed', 'damaged')
local seq, chain = tonumber(m[1] or 0), tonumber(m[2] or 0)
if ARGV[2] ~= '' and not owns(m[3], m[4], ARGV[2], ARGV[3]) then return {'fenced', tonumber(m[3] or 0)} end
local written = redis.call('HGET', KEYS[3], ARGV[4])
if written then return {'dup', tonumber(written)} end
if m[5] or m[6] then return {'closed'} end
if m[7] then return {'damaged', tonumber(m[7])} end
local back = redis.call('HGET', KEYS[6], 'back')
if back then return {'back', string.match(back, '(%d+) (%d+)')} end
if tonumber(ARGV[1]) ~= seq then return {'conflict', seq} end
if ARGV[5] ~= '' and tonumber(ARGV[5]) ~= chain then return {'forked', seq} end
for i = 14, #ARGV, 2 do
  seq = seq + 1
  redis.call('XADD', KEYS[2], seq .. '-0', 'c', chain .. ' ' .. ARGV[i], 'b', ARGV[i + 1])
  chain = chained(chain, tonumber(ARGV[i]))
end
redis.call('HSET', KEYS[3], ARGV[4], seq)
redis.call('HSET', KEYS[1], 'seq', seq, 'chain', chain)
if ARGV[6] ~= '' then redis.call('HSET', KEYS[1], 'closed', '1') end
if ARGV[7] ~= '' then free(KEYS[1], KEYS[5], KEYS[7], ARGV[11]) end
if ARGV[13] ~= '' then
  redis.call('HSET', KEYS[1], 'parent', ARGV[13])
  redis.call('ZREM', KEYS[4], ARGV[10])
end
local parent = redis.call('HGET', KEYS[1], 'parent')
redis.call('ZADD', parent and KEYS[4] .. ':children:' .. parent or KEYS[4], ARGV[9], ARGV[10])
schedule(KEYS[1], KEYS[5], KEYS[7], ARGV[11], ARGV[8])
redis.call('PUBLISH', ARGV[12], seq)
return {'ok', seq, chain}
`);

/* KEYS meta; ARGV clock */
export const headScript: Script = script(`${clock}${remaining}
local m = redis.call('HMGET', KEYS[1], 'seq', 'epoch', 'removed', 'node', 'until', 'lease')
local left = m[4] and remaining(m[5], m[6], clock(ARGV[1])) or 0
return {tonumber(m[1] or 0), tonumber(m[2] or 0), m[3] and 1 or 0, left > 0 and m[4] or '', left}
`);

/* KEYS meta due held; ARGV clock node leaseMs token member */
export const claimScript: Script = script(`${clock}${remaining}${hold}
local m = redis.call('HMGET', KEYS[1], 'seq', 'epoch', 'removed', 'node', 'until', 'lease')
local now = clock(ARGV[1])
local left = m[4] and m[4] ~= ARGV[2] and remaining(m[5], m[6], now) or 0
if left > 0 then return {'held', m[4], left} end
local epoch = tonumber(m[2] or 0) + 1
redis.call('HSET', KEYS[1], 'epoch', epoch, 'token', ARGV[4], 'node', ARGV[2], 'until', string.format('%.3f', now + ARGV[3]), 'lease', ARGV[3])
hold(KEYS[1], KEYS[2], KEYS[3], ARGV[5], string.format('%.3f', now + ARGV[3]))
return {'claimed', epoch, tonumber(m[1] or 0), m[3] and 1 or 0}
`);

/* Renews one lease or many: 1 or 0 for each. KEYS held meta...; ARGV clock (epoch token leaseMs member)... */
export const renewScript: Script = script(`${clock}${owns}
local now = clock(ARGV[1])
local renewed = {}
for i = 1, #KEYS - 1 do
  local key, at = KEYS[i + 1], 4 * i - 2
  local epoch, token, leaseMs, member = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local m = redis.call('HMGET', key, 'epoch', 'token', 'node')
  renewed[i] = 0
  if m[3] and owns(m[1], m[2], epoch, token) then
    local ends = string.format('%.3f', now + leaseMs)
    redis.call('HSET', key, 'until', ends, 'lease', leaseMs)
    redis.call('ZADD', KEYS[1], 'XX', ends, member)
    renewed[i] = 1
  end
end
return renewed
`);

/* KEYS meta due held; ARGV epoch token member */
export const releaseScript: Script = script(`${owns}${free}
local m = redis.call('HMGET', KEYS[1], 'epoch', 'token')
if owns(m[1], m[2], ARGV[1], ARGV[2]) then free(KEYS[1], KEYS[2], KEYS[3], ARGV[3]) end
return 1
`);

/* KEYS meta due held; ARGV expectedSeq due member */
export const setDueScript: Script = script(`${schedule}
local m = redis.call('HMGET', KEYS[1], 'seq', 'removed')
if not m[2] and tonumber(m[1] or 0) == tonumber(ARGV[1]) then schedule(KEYS[1], KEYS[2], KEYS[3], ARGV[3], ARGV[2]) end
return 1
`);

/*
 * Moves sessions whose lease has ended back among the dates; how many it looked at. A lease that ends more than an hour from now is looked at, too:
 * the clock may have been set back since. KEYS due held; ARGV clock count sessions
 */
export const lapseScript: Script = script(`${clock}${remaining}${free}
local now = clock(ARGV[1])
local looked = 0
local function look(found)
  for _, member in ipairs(found) do
    looked = looked + 1
    local key = ARGV[3] .. string.gsub(member, ' ', '.') .. '}:meta'
    local m = redis.pcall('HMGET', key, 'node', 'until', 'lease')
    if m.err then
      redis.call('ZREM', KEYS[2], member)
      redis.call('ZADD', KEYS[1], 'NX', 0, member)
    elseif not m[1] or remaining(m[2], m[3], now) == 0 then
      free(key, KEYS[1], KEYS[2], member)
    else
      redis.call('ZADD', KEYS[2], m[2], member)
    end
  end
end
look(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', string.format('%.3f', now), 'LIMIT', 0, ARGV[2]))
look(redis.call('ZRANGEBYSCORE', KEYS[2], string.format('%.3f', now + 3600000), '+inf', 'LIMIT', 0, ARGV[2]))
return looked
`);

/*
 * A page of the sessions whose date has come, by rank: how many were looked at, the next rank, then member and date of those that no running
 * lease holds. KEYS due; ARGV until clock afterDate afterMember start count sessions
 */
export const dueScript: Script = script(`${clock}${remaining}
local start = tonumber(ARGV[5])
if start < 0 then
  start = 0
  if ARGV[3] ~= '' then
    local date = redis.call('ZSCORE', KEYS[1], ARGV[4])
    if date and tonumber(date) == tonumber(ARGV[3]) then
      start = redis.call('ZRANK', KEYS[1], ARGV[4]) + 1
    else
      start = redis.call('ZCOUNT', KEYS[1], '-inf', '(' .. ARGV[3])
    end
  end
end
local found = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'WITHSCORES', 'LIMIT', start, ARGV[6])
local now = clock(ARGV[2])
local free = {#found / 2, start + #found / 2}
for i = 1, #found, 2 do
  local key = ARGV[7] .. string.gsub(found[i], ' ', '.') .. '}:meta'
  -- A session under whose key lies something else keeps none of the others off the list.
  local m = redis.pcall('HMGET', key, 'node', 'until', 'lease')
  if m.err or not m[1] or remaining(m[2], m[3], now) == 0 then
    free[#free + 1] = found[i]
    free[#free + 1] = found[i + 1]
  end
end
return free
`);

/*
 * Leaves a tombstone, with the epoch. A blob goes with the last session that owns it.
 * KEYS meta facts batches snapshots view texts index due blobs held; ARGV session member channel blobsOfScope
 */
export const removeScript: Script = script(`
local owned = redis.pcall('HKEYS', KEYS[9])
for _, field in ipairs(owned.err and {} or owned) do
  if string.sub(field, 1, 2) == 'b:' then
    local key = string.sub(field, 3)
    redis.call('HDEL', ARGV[4] .. 'owners:' .. key, ARGV[1])
    if redis.call('EXISTS', ARGV[4] .. 'owners:' .. key, ARGV[4] .. 'blob:' .. key) == 0 then redis.call('ZREM', ARGV[4] .. 'keys', key) end
  end
end
redis.call('UNLINK', KEYS[9])
redis.call('UNLINK', KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
local meta = redis.pcall('HEXISTS', KEYS[1], 'removed')
if type(meta) == 'table' and meta.err then redis.call('UNLINK', KEYS[1]) end
local parent = redis.call('HGET', KEYS[1], 'parent')
redis.call('HDEL', KEYS[1], 'seq', 'chain', 'closed', 'damaged', 'node', 'until', 'lease', 'due', 'parent')
redis.call('HSET', KEYS[1], 'removed', '1')
redis.call('ZREM', KEYS[7], ARGV[1])
if parent then redis.call('ZREM', KEYS[7] .. ':children:' .. parent, ARGV[1]) end
redis.call('ZREM', KEYS[8], ARGV[2])
redis.call('ZREM', KEYS[10], ARGV[2])
redis.call('PUBLISH', ARGV[3], 0)
return 1
`);
