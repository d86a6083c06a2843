import { bytesOf, decodedHead, encodedHead, textOf } from "./encoded-head.ts";
import type { SecretStorage } from "./secret-storage.ts";

export interface RedisSecretsOptions {
  /** Runs one command of Redis and gives its answer: `command` of a `redisStore`, or `(words) => client.sendCommand([...words])`. */
  readonly command: (words: readonly string[]) => Promise<unknown>;
  /** What every key begins with. Default `loopwright`. */
  readonly prefix?: string;
}

/* KEYS scope; ARGV expected revision, revision, head, and where a secret changes its name and its bytes, empty where it is removed. */
const writeScript = `
local revision = redis.call('HGET', KEYS[1], 'revision') or '0'
if revision ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'revision', ARGV[2], 'head', ARGV[3])
if ARGV[4] then
  if ARGV[5] == '' then redis.call('HDEL', KEYS[1], 'of:' .. ARGV[4]) else redis.call('HSET', KEYS[1], 'of:' .. ARGV[4], ARGV[5]) end
end
return 1
`;

/** Encrypted bytes in one Redis, for several processes and machines: a hash for each scope, and a set of the scopes. */
export function redisStorage({ command, prefix = "loopwright" }: RedisSecretsOptions): SecretStorage {
  const keyOf = (scope: string): string => `${prefix}:{secrets/${scope}}`;
  const scopesKey = `${prefix}:{secrets}`;
  return {
    async read(scope, name) {
      const [head, record] = (await command([
        "HMGET",
        keyOf(scope),
        "head",
        ...(name === undefined ? [] : [`of:${name}`]),
      ])) as readonly unknown[];
      return {
        ...(typeof head === "string" ? { head: decodedHead(head) } : {}),
        ...(typeof record === "string" ? { record: bytesOf(record) } : {}),
      };
    },
    async write(scope, { expected, head, record }) {
      // Before the scope has anything: a scope that is listed and empty costs nothing, one that is not listed would miss a rotation.
      await command(["SADD", scopesKey, scope]);
      const changed = record ? [record.name, record.bytes ? textOf(record.bytes) : ""] : [];
      const done = await command([
        "EVAL",
        writeScript,
        "1",
        keyOf(scope),
        `${expected}`,
        `${head.revision}`,
        encodedHead(head),
        ...changed,
      ]);
      return Number(done) === 1;
    },
    scopes: async () => [...((await command(["SMEMBERS", scopesKey])) as readonly string[])].sort(),
  };
}
