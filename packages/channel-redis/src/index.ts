/** Carries the events of sessions between nodes over Redis. */
export { type RedisChannel, type RedisChannelOptions, redisChannel } from "./redis-channel.ts";
