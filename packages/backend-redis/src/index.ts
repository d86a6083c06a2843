/** Store, channel and queue of a runtime on one Redis. */
export { type RedisBackend, type RedisBackendOptions, redisBackend } from "./redis-backend.ts";
