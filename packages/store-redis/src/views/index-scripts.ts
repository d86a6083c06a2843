import { type Script, script } from "../connection/script.ts";

/*
 * Keeps a projection that was folded further, with the texts of the facts between; not when another was faster, nor of a removed session.
 * KEYS meta view texts; ARGV before seq projection text...
 */
export const saveViewScript: Script = script(`
if redis.call('HEXISTS', KEYS[1], 'removed') == 1 then return 0 end
if tonumber(redis.call('HGET', KEYS[2], 'seq') or 0) ~= tonumber(ARGV[1]) then return 0 end
redis.call('HSET', KEYS[2], 'seq', ARGV[2], 'value', ARGV[3])
for i = 4, #ARGV do redis.call('RPUSH', KEYS[3], ARGV[i]) end
return 1
`);

/* A snapshot of a removed session is not kept. KEYS meta snapshots; ARGV name value */
export const putSnapshotScript: Script = script(`
if redis.call('HEXISTS', KEYS[1], 'removed') == 1 then return 0 end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
return 1
`);

/*
 * The sessions changed last, each with the end of its log, which shows whether the log has grown: empty for one that cannot be read.
 * KEYS index; ARGV sessions scope start count
 */
export const newestEndsScript: Script = script(`
local found = {}
for _, id in ipairs(redis.call('ZRANGE', KEYS[1], '+inf', '-inf', 'BYSCORE', 'REV', 'LIMIT', ARGV[3], ARGV[4])) do
  local ends = redis.pcall('HMGET', ARGV[1] .. ARGV[2] .. '.' .. id .. '}:meta', 'seq', 'chain')
  found[#found + 1] = id
  found[#found + 1] = not ends.err and ends[1] and ends[2] and ends[1] .. ' ' .. ends[2] or ''
end
return found
`);
