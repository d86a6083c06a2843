/** Faults for real services, on Node.js: a Redis of one's own, and a line that can be made bad. */
export { type FaultyProxy, type FaultyProxyOptions, faultyProxy } from "./faulty-proxy.ts";
export { freePort } from "./free-port.ts";
export { type RedisOptions, type RedisProcess, redisMissing, startRedis } from "./redis-process.ts";
export type { FlowToxics, Toxics } from "./toxics.ts";
