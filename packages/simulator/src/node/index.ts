/** Faults for real services, on Node.js: a Redis of one's own, a line that can be made bad, a disk that fails, a process without rights. */
export { type DiskCall, type DiskControl, type DiskFaults, type FailingDisk, failingDisk, failingDiskMissing } from "./failing-disk.ts";
export { type FaultyProxy, type FaultyProxyOptions, faultyProxy } from "./faulty-proxy.ts";
export { freePort } from "./free-port.ts";
export { type RedisOptions, type RedisProcess, redisMissing, startRedis } from "./redis-process.ts";
export { type RestrictedStart, restrictedStart } from "./restricted-start.ts";
export type { FlowToxics, Toxics } from "./toxics.ts";
