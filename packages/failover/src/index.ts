/** Circuits of models that the processes of a deployment share. */
export { type CircuitOwner, type CircuitRecords, memoryCircuits } from "./circuit-records.ts";
export { createFailover, type FailoverOptions } from "./create-failover.ts";
export { type CircuitRule, type FailoverLimits, failoverLimits } from "./failover-limits.ts";
