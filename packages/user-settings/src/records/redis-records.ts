import type { JsonObject } from "@loopwright/core";
import { encodedRecord, newRevision, recordsFull } from "./encoded-record.ts";
import { type RecordKind, type RecordOwner, recordLimits, type StoredRecord, type UserRecords } from "./user-records.ts";

export interface RedisRecordsOptions {
  /** Runs one command of Redis and gives its answer: `command` of a `redisStore`, or `(words) => client.sendCommand([...words])`. */
  readonly command: (words: readonly string[]) => Promise<unknown>;
  /** What every key begins with. Default `loopwright`. */
  readonly prefix?: string;
}

/* Both scripts: KEYS entries order; ARGV id, whether a revision is expected, which one. An entry is its revision, a line break and its JSON. */
const heldOf = `
local held = redis.call('HGET', KEYS[1], ARGV[1])
local revision = held and string.match(held, '^[^\\n]*') or ''
if ARGV[2] == '1' and revision ~= ARGV[3] then return 0 end
`;
/* ARGV further: the entry, the most entries. */
const putScript = `${heldOf}
if not held then
  if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[5]) then return -1 end
  redis.call('RPUSH', KEYS[2], ARGV[1])
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[4])
return 1
`;
const removeScript = `${heldOf}
if not held then return 0 end
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('LREM', KEYS[2], 1, ARGV[1])
return 1
`;
/* The order and the entries of one moment: id, entry, id, entry, ... */
const listScript = `
local entries = {}
for _, id in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do
  entries[#entries + 1] = id
  entries[#entries + 1] = redis.call('HGET', KEYS[1], id)
end
return entries
`;

/** Entries of users in one Redis, for several processes and machines: a hash and a list for each user and kind. */
export function redisRecords({ command, prefix = "loopwright" }: RedisRecordsOptions): UserRecords {
  const keysOf = ({ scope, user }: RecordOwner, kind: RecordKind): readonly [entries: string, order: string] => {
    // The parts are encoded, so that no name can pass for another; the braces keep both keys together.
    const own = `${prefix}:{settings/${encodeURIComponent(scope)}/${encodeURIComponent(user)}}:${kind}`;
    return [own, `${own}:order`];
  };
  const run = (script: string, keys: readonly string[], args: readonly string[]): Promise<unknown> =>
    command(["EVAL", script, String(keys.length), ...keys, ...args]);
  const guard = (expected: string | null | undefined): readonly [string, string] => [expected === undefined ? "0" : "1", expected ?? ""];
  return {
    async get(owner, kind, id) {
      const held = await command(["HGET", keysOf(owner, kind)[0], id]);
      return typeof held === "string" ? stored(id, held) : undefined;
    },
    async list(owner, kind) {
      const entries = (await run(listScript, keysOf(owner, kind), [])) as readonly string[];
      return entries.flatMap((id, at) => (at % 2 === 0 ? [stored(id, entries[at + 1] ?? "")] : []));
    },
    async put(owner, kind, { id, value, expected }) {
      const revision = newRevision();
      const entry = `${revision}\n${encodedRecord(value)}`;
      const done = await run(putScript, keysOf(owner, kind), [id, ...guard(expected), entry, String(recordLimits.perKindMax)]);
      if (Number(done) < 0) throw recordsFull();
      return Number(done) === 1 ? revision : undefined;
    },
    remove: async (owner, kind, { id, expected }) => Number(await run(removeScript, keysOf(owner, kind), [id, ...guard(expected)])) === 1,
  };
}

function stored(id: string, held: string): StoredRecord {
  const end = held.indexOf("\n");
  return { id, revision: held.slice(0, end), value: JSON.parse(held.slice(end + 1)) as JsonObject };
}
