import { systemClock } from "@loopwright/core/memory";
import type { LedgerOutcome, LedgerPeriod, UsageAmount, UsageLedger } from "@loopwright/core/ports";
import { type ExactAmount, exactAmount, type LedgerOptions, ledgerRefusal, ledgerTerms, usageAmount } from "@loopwright/core/stores";
import type { Connection } from "./connection/connection.ts";
import { listOf, textOf } from "./connection/reply.ts";
import { answerOf, type Script, script } from "./connection/script.ts";
import type { StoreKeys } from "./keys.ts";

export type RedisLedgerOptions = LedgerOptions;

/** A ledger whose sums can be read. */
export interface RedisLedger extends UsageLedger {
  /** What counts as spent for the account, in the open window of its limit (the first one, or that of `per`): reservations that are open included. */
  spent(account: string, per?: LedgerPeriod): Promise<Required<UsageAmount>>;
}

/* KEYS sum. */
const spentScript: Script = script("return redis.call('HMGET', KEYS[1], 'tokens', 'nanos')");

/* Money is counted in billionths of a dollar, so that sums do not drift. */
const addTo = `
local function add(sum, tokens, nanos)
  local was = redis.call('HMGET', sum, 'tokens', 'nanos')
  redis.call('HSET', sum, 'tokens', string.format('%.0f', (tonumber(was[1]) or 0) + tokens), 'nanos', string.format('%.0f', (tonumber(was[2]) or 0) + nanos))
end
`;

/* KEYS reservation sums; ARGV tokens nanos expiresAt, then two limits and the end of each sum. Gives the place of the sum that refuses, and what is spent. */
const reserveScript: Script = script(`${addTo}
if redis.call('EXISTS', KEYS[1]) == 1 then return {0, '0', '0'} end
for i = 2, #KEYS do
  local sum = redis.call('HMGET', KEYS[i], 'tokens', 'nanos')
  local tokens, nanos = ARGV[3 * i - 2], ARGV[3 * i - 1]
  local isOver = tokens ~= '' and (tonumber(sum[1]) or 0) + tonumber(ARGV[1]) > tonumber(tokens)
  isOver = isOver or nanos ~= '' and (tonumber(sum[2]) or 0) + tonumber(ARGV[2]) > tonumber(nanos)
  if isOver then return {i - 1, sum[1] or '0', sum[2] or '0'} end
end
local sums = {}
for i = 2, #KEYS do
  add(KEYS[i], tonumber(ARGV[1]), tonumber(ARGV[2]))
  if ARGV[3 * i] ~= '' then redis.call('PEXPIREAT', KEYS[i], ARGV[3 * i]) end
  sums[i - 1] = KEYS[i]
end
redis.call('HSET', KEYS[1], 'tokens', ARGV[1], 'nanos', ARGV[2], 'open', cjson.encode(sums))
redis.call('PEXPIREAT', KEYS[1], ARGV[3])
return {0, '0', '0'}
`);

/* KEYS reservation; ARGV tokens nanos isReleased. A settled one stays until it expires. The sum of a window that is over may be gone. */
const endScript: Script = script(`${addTo}
local asked = redis.call('HMGET', KEYS[1], 'open', 'tokens', 'nanos')
if not asked[1] then return 0 end
for _, sum in ipairs(cjson.decode(asked[1])) do
  if redis.call('EXISTS', sum) == 1 then add(sum, tonumber(ARGV[1]) - tonumber(asked[2]), tonumber(ARGV[2]) - tonumber(asked[3])) end
end
if ARGV[3] ~= '' then redis.call('UNLINK', KEYS[1]) else redis.call('HDEL', KEYS[1], 'open') end
return 1
`);

/** A process whose clock is behind may still count for a window that has ended by the clock of Redis. */
const windowGraceMs = 3_600_000;

/** One hash for each account with a limit, which stays, or until its window has ended; and one for each reservation until it expires. */
export function redisLedger(
  { connection, keys }: { readonly connection: Connection; readonly keys: StoreKeys },
  options: RedisLedgerOptions,
): RedisLedger {
  const { accountsOf, sumsOf, sumOf } = ledgerTerms({ clock: systemClock, ...options });
  const end = async (id: string, { tokens, nanos }: ExactAmount, isReleased: boolean): Promise<void> => {
    await answerOf(connection, endScript, { keys: [keys.reservation(id)], args: [String(tokens), String(nanos), isReleased ? "1" : ""] });
  };
  return {
    accountsOf,
    async reserve({ id, accounts, ask, expiresAt }): Promise<LedgerOutcome> {
      const sums = sumsOf(accounts);
      const bounds = sums.flatMap(({ limit: { tokens, costUsd }, endsAt }) => [
        tokens === undefined ? "" : String(tokens),
        costUsd === undefined ? "" : String(exactAmount({ tokens: 0, costUsd }).nanos),
        endsAt === undefined ? "" : String(endsAt + windowGraceMs),
      ]);
      const amount = exactAmount(ask);
      const args = [String(amount.tokens), String(amount.nanos), String(Math.ceil(expiresAt)), ...bounds];
      const input = { keys: [keys.reservation(id), ...sums.map(({ name }) => keys.account(name))], args };
      const [place, ...spent] = listOf(await answerOf(connection, reserveScript, input));
      const full = sums[Number(place) - 1];
      return (full && ledgerRefusal(full, exactOf(spent), amount)) ?? { type: "reserved" };
    },
    async spent(account, per) {
      const sum = sumOf(account, per);
      if (!sum) return { tokens: 0, costUsd: 0 };
      return usageAmount(exactOf(listOf(await answerOf(connection, spentScript, { keys: [keys.account(sum.name)], args: [] }))));
    },
    settle: (id, spent) => end(id, exactAmount(spent), false),
    release: (id) => end(id, { tokens: 0, nanos: 0 }, true),
  };
}

const exactOf = ([tokens, nanos]: ReturnType<typeof listOf>): ExactAmount => ({
  tokens: Number(textOf(tokens ?? "0")),
  nanos: Number(textOf(nanos ?? "0")),
});
