/*
 * A blob of the scope is a hash (bytes, type). A blob of a session is two fields of the one hash of that session, so that all of them go with it.
 * `owners` names the sessions that own a key, `keys` lists the keys of all owners.
 */
import { type Script, script } from "../connection/script.ts";

/* KEYS blob keys; ARGV key bytes mediaType ifAbsent */
export const putBlobScript: Script = script(`
if ARGV[4] ~= '' and redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], 'bytes', ARGV[2])
if ARGV[3] ~= '' then redis.call('HSET', KEYS[1], 'type', ARGV[3]) else redis.call('HDEL', KEYS[1], 'type') end
redis.call('ZADD', KEYS[2], 0, ARGV[1])
return 1
`);

const keepOwned = `
local function keep(own, key, bytes, kind)
  redis.call('HSET', own, 'b:' .. key, bytes)
  if kind and kind ~= '' then redis.call('HSET', own, 't:' .. key, kind) else redis.call('HDEL', own, 't:' .. key) end
end
`;

/* For a session that was removed nothing is kept. KEYS meta own owners keys; ARGV key bytes mediaType ifAbsent session */
export const putOwnedScript: Script = script(`${keepOwned}
if redis.call('HEXISTS', KEYS[1], 'removed') == 1 then return 0 end
if ARGV[4] ~= '' and redis.call('HEXISTS', KEYS[2], 'b:' .. ARGV[1]) == 1 then return 0 end
keep(KEYS[2], ARGV[1], ARGV[2], ARGV[3])
redis.call('HSET', KEYS[3], ARGV[5], '')
redis.call('ZADD', KEYS[4], 0, ARGV[1])
return 1
`);

/** Bytes and type of the value of the scope, else of any session. One whose blobs cannot be read does not keep those of the others away. */
const find = `
local function find(blob, owners, sessions, key)
  local found = redis.call('HMGET', blob, 'bytes', 'type')
  if found[1] then return found end
  for _, session in ipairs(redis.call('HKEYS', owners)) do
    found = redis.pcall('HMGET', sessions .. session .. '}:blobs', 'b:' .. key, 't:' .. key)
    if not found.err and found[1] then return found end
  end
  return {false, false}
end
`;

/* KEYS own blob owners; ARGV key sessions */
export const getBlobScript: Script = script(`${find}
local found = redis.call('HMGET', KEYS[1], 'b:' .. ARGV[1], 't:' .. ARGV[1])
if found[1] then return found end
return find(KEYS[2], KEYS[3], ARGV[2], ARGV[1])
`);

/* KEYS meta own owners blob; ARGV key sessions session */
export const ownBlobScript: Script = script(`${keepOwned}${find}
if redis.call('HEXISTS', KEYS[1], 'removed') == 1 then return 0 end
if redis.call('HEXISTS', KEYS[2], 'b:' .. ARGV[1]) == 0 then
  local found = find(KEYS[4], KEYS[3], ARGV[2], ARGV[1])
  if not found[1] then return 0 end
  keep(KEYS[2], ARGV[1], found[1], found[2])
  redis.call('HSET', KEYS[3], ARGV[3], '')
end
redis.call('UNLINK', KEYS[4])
return 1
`);

/* KEYS blob keys owners; ARGV key sessions ifUnused */
export const removeBlobScript: Script = script(`
if ARGV[3] ~= '' and redis.call('HLEN', KEYS[3]) > 0 then return 0 end
local there = redis.call('UNLINK', KEYS[1])
for _, session in ipairs(redis.call('HKEYS', KEYS[3])) do
  local gone = redis.pcall('HDEL', ARGV[2] .. session .. '}:blobs', 'b:' .. ARGV[1], 't:' .. ARGV[1])
  if type(gone) == 'number' then there = there + gone end
end
redis.call('UNLINK', KEYS[3])
redis.call('ZREM', KEYS[2], ARGV[1])
return there > 0 and 1 or 0
`);
