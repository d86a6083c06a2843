import { type Script, script } from "../connection/script.ts";

/*
 * Fields of `store`: gen (a number that rises with each acceptance, and a random word), born (when this data was begun), back (which mark was
 * missed, and which is there). `marks`: writer by its last mark. A mark is a moment of Redis's own clock, and higher than the one before.
 */

/** Marks of writers that were silent for so long are removed; a missing one then counts as no evidence. */
const keptMs = 30 * 86_400_000;
/** So long after its start a Redis is looked at by those that know it before others may claim. */
const youngMs = 10_000;

/* KEYS store marks; ARGV writer generation word checks (writer mark)... */
export const markScript: Script = script(`
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local s = redis.call('HMGET', KEYS[1], 'gen', 'born', 'back')
local function number(gen) return tonumber(string.match(gen or '', '^%d+') or 0) end
local function rolled(back)
  local missed, found = string.match(back, '(%d+) (%d+)')
  return {'back', tonumber(missed), tonumber(found)}
end
local checks = ARGV[4] ~= ''
if checks and s[3] then return rolled(s[3]) end
if checks and ARGV[2] ~= '' then
  local missed = number(s[1]) < number(ARGV[2]) and now or 0
  if s[1] == ARGV[2] then
    for i = 5, #ARGV, 2 do
      local mark = tonumber(ARGV[i + 1])
      if mark > now - ${keptMs - 86_400_000} and tonumber(redis.call('ZSCORE', KEYS[2], ARGV[i]) or 0) < mark then missed = math.max(missed, mark) end
    end
  end
  if missed > 0 then
    local newest = redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')
    local back = string.format('%.0f %.0f', missed, tonumber(newest[2] or 0))
    local gen = number(s[1]) < number(ARGV[2]) and ARGV[2] or s[1]
    redis.call('HSET', KEYS[1], 'back', back, 'gen', gen)
    return rolled(back)
  end
end
if checks and ARGV[2] == '' and s[2] then
  local up = string.match(redis.call('INFO', 'server'), 'uptime_in_seconds:(%d+)')
  if up and up * 1000 < ${youngMs} and tonumber(s[2]) < now - up * 1000 - 1000 then return {'young'} end
end
if not s[1] then
  s[1] = '1 ' .. ARGV[3]
  redis.call('HSET', KEYS[1], 'gen', s[1], 'born', string.format('%.0f', now))
end
local mark = math.max(now, tonumber(redis.call('ZSCORE', KEYS[2], ARGV[1]) or 0) + 1)
redis.call('ZADD', KEYS[2], string.format('%.0f', mark), ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', now - ${keptMs}))
return {'ok', s[1], mark}
`);

/* Takes the data as it is, as a new generation. KEYS store marks; ARGV word */
export const acceptScript: Script = script(`
local s = redis.call('HMGET', KEYS[1], 'gen', 'back')
if not s[2] then return 0 end
local gen = tonumber(string.match(s[1] or '', '^%d+') or 0) + 1
redis.call('HSET', KEYS[1], 'gen', gen .. ' ' .. ARGV[1])
redis.call('HDEL', KEYS[1], 'back')
return 1
`);
