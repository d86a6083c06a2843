/** Deterministic simulation of agents: many nodes, a virtual clock, a faulty store, and a crash at any step, from one seed. */
export type { Finding } from "./check/finding.ts";
export type { ExpandedOptions, FaultRates, SimulateOptions } from "./run/expand-options.ts";
export { type SimulationReport, simulate } from "./run/simulate.ts";
export type { Dice } from "./world/dice.ts";
export type { NodeRole } from "./world/session-host.ts";
export type { ModelScript } from "./world/simulated-model.ts";
