import type { SessionRef } from "@loopwright/core/ports";
import type { QueueClient } from "./queue-connection.ts";
import { queueLimits } from "./queue-limits.ts";

/**
 * Numbers a hint for a backlog that is fair between scopes (start-time fair queuing): each hint of a scope gets one number more than its last one,
 * and at least the number of the hint at the head of the queue; when no hint waits, one more than the highest number. So an earlier backlog costs a
 * scope nothing. A hint that is already queued gets no new number.
 *
 * When no hint waits and half of the numbers are used, they start again at one. Beyond `scopesMax` the last numbers of all scopes are forgotten.
 */
const script = `
local last, top, waiting, merged = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local scope, turnMax, keptMs, scopesMax = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local head = redis.call('ZRANGE', waiting, 0, 0, 'WITHSCORES')[2]
local highest = tonumber(redis.call('GET', top) or '0')
if not head and highest > turnMax / 2 then
  redis.call('DEL', last)
  highest = 0
end
if redis.call('HLEN', last) > scopesMax then redis.call('DEL', last) end
local floor = head and math.floor(tonumber(head) / 4294967296) or highest + 1
local own = tonumber(redis.call('HGET', last, scope) or '0')
if redis.call('EXISTS', merged) == 1 then return math.min(math.max(floor, own), turnMax) end
local turn = math.min(math.max(floor, own + 1), turnMax)
redis.call('HSET', last, scope, turn)
redis.call('PEXPIRE', last, keptMs)
redis.call('SET', top, math.max(highest, turn), 'PX', keptMs)
return turn
`;

export interface FairTurnKeys {
  /** A hash with the last turn of each scope. */
  readonly last: string;
  /** The highest turn of all scopes. */
  readonly top: string;
  /** BullMQ's sorted set of the hints that wait; their priority is their turn. */
  readonly waiting: string;
  /** Exists while a hint for the same session waits. */
  readonly merged: string;
}

/** The turn of a hint, to be used as its priority: lower turns are delivered first. Rejects as the client does. */
export async function fairTurn(client: QueueClient, keys: FairTurnKeys, { scope }: SessionRef): Promise<number> {
  const { turnMax, turnsKeptMs, scopesMax } = queueLimits;
  const turn = await client.eval(script, {
    keys: [keys.last, keys.top, keys.waiting, keys.merged],
    arguments: [scope, String(turnMax), String(turnsKeptMs), String(scopesMax)],
  });
  return Math.max(1, Number(turn));
}
