import { type RedisProcess, redisMissing, startRedis } from "@loopwright/simulator/node";
import { afterAll, afterEach, beforeAll } from "vitest";
import { type RedisStore, type RedisStoreOptions, redisStore } from "../src/index.ts";

/** Why these suites are skipped; `undefined` where they run. */
export const missing: string | undefined = redisMissing();
if (missing) console.info(`Skipped: ${missing}.`);

/** One Redis for a test file, and stores in it that are closed after each test. */
export interface RedisFixture {
  readonly redis: RedisProcess;
  /** A store; with the prefix of an earlier one it is the same store, seen from another process. */
  open(options?: RedisStoreOptions): RedisStore;
  /** A prefix that no store has had. */
  prefix(): string;
}

/** A Redis that is well answers in time, also on a busy machine. Tests of one that does not answer name a deadline of their own. */
const deadlineMs = 20_000;

let count = 0;

/** Starts the Redis before the tests of the file, and ends it after them. */
export function redisFixture(args?: readonly string[]): RedisFixture {
  let redis: RedisProcess | undefined;
  const opened: RedisStore[] = [];
  const running = (): RedisProcess => {
    if (!redis) throw new Error("The Redis of the fixture runs during tests alone.");
    return redis;
  };
  const prefix = (): string => `test${count++}`;
  if (!missing) {
    beforeAll(async () => {
      redis = await startRedis(args ? { args } : {});
    });
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((store) => store.close()));
    });
    afterAll(() => redis?.stop());
  }
  return {
    get redis() {
      return running();
    },
    prefix,
    open(options) {
      const store = redisStore({ url: running().url, prefix: prefix(), deadlineMs, ...options });
      opened.push(store);
      return store;
    },
  };
}
