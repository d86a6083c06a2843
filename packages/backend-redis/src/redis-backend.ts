import { type RedisChannel, redisChannel } from "@loopwright/channel-redis";
import type { Backend } from "@loopwright/core";
import type { RunQueue } from "@loopwright/core/ports";
import { bullQueue } from "@loopwright/queue-bullmq";
import { type RedisStore, redisStore } from "@loopwright/store-redis";

export interface RedisBackendOptions {
  /** Before every key, so that several runtimes share a Redis. Default `loopwright`. */
  readonly prefix?: string;
}

/** The parts of a runtime that are on one Redis. */
export interface RedisBackend extends Backend {
  readonly store: RedisStore;
  readonly channel: RedisChannel;
  readonly queue: RunQueue;
}

/**
 * Store, channel and queue on one Redis, each with its own connections and its defaults. Nothing is connected before the first use. For other options
 * make the three yourself: `redisStore`, `redisChannel`, `bullQueue`.
 * @example const runtime = createRuntime({ agents, ...redisBackend("redis://127.0.0.1:6379") });
 */
export function redisBackend(url: string, options: RedisBackendOptions = {}): RedisBackend {
  const place = { url, ...options };
  const [store, channel, queue] = [redisStore(place), redisChannel(place), bullQueue(place)];
  return {
    ...{ store, channel, queue },
    async close() {
      // The queue returns its hints when it closes; queue and channel do not use the store.
      await Promise.all([queue.close(), channel.close()]);
      await store.close();
    },
  };
}
