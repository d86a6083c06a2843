import { AgentError } from "@loopwright/core";
import { checkEntry } from "./check-entry.ts";
import type { ConfigStore } from "./policy-source.ts";

/** What is used of a connected client, such as one of `@redis/client`. */
export interface RedisConfigClient {
  sendCommand(words: readonly string[]): Promise<unknown>;
}

export interface RedisConfigOptions {
  readonly client: RedisConfigClient;
  /** What the names of its keys begin with. Default `loopwright`. */
  readonly prefix?: string;
}

/** `expected`: `any`, `none`, or `=` and a revision. */
const putScript = `
local now = redis.call('HGET', KEYS[1], 'revision')
local expected = ARGV[3]
if expected == 'none' and now then return false end
if string.sub(expected, 1, 1) == '=' and string.sub(expected, 2) ~= (now or '') then return false end
redis.call('HSET', KEYS[1], 'text', ARGV[1], 'revision', ARGV[2])
return ARGV[2]
`;

/** Entries in Redis, each one hash; a change is one script. The client is the application's, and stays open. */
export function redisConfig({ client, prefix = "loopwright" }: RedisConfigOptions): ConfigStore {
  const keyOf = (key: string): string => `${prefix}:config:{${encodeURIComponent(key)}}`;
  return {
    async get(key) {
      const [text, revision] = asList(await guarded(() => client.sendCommand(["HMGET", keyOf(key), "text", "revision"])));
      return typeof text === "string" && typeof revision === "string" ? { text, revision } : undefined;
    },
    async put(key, text, { expected } = {}) {
      checkEntry(key, text);
      const condition = expected === undefined ? "any" : expected === null ? "none" : `=${expected}`;
      const given = await guarded(() => client.sendCommand(["EVAL", putScript, "1", keyOf(key), text, crypto.randomUUID(), condition]));
      return typeof given === "string" ? given : undefined;
    },
    delete: async (key) => Number(await guarded(() => client.sendCommand(["DEL", keyOf(key)]))) > 0,
  };
}

const asList = (answer: unknown): readonly unknown[] => (Array.isArray(answer) ? answer : []);

/** @throws AgentError STORE_UNAVAILABLE */
async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new AgentError("STORE_UNAVAILABLE", { message: "The configuration in Redis cannot be reached.", cause });
  }
}
