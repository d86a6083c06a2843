/** Deterministic simulation of agents: many nodes, a virtual clock, a faulty store, and a crash at any step, from one seed. */
export type { Finding } from "./check/finding.ts";
export type { RecoveryRow } from "./crash/recovery-rows.ts";
export {
  type CrashFailure,
  type CrashKind,
  type CrashPointsOptions,
  type CrashPointsReport,
  type CrashReplay,
  replayCrash,
  runCrashPoints,
} from "./crash/run-crash-points.ts";
export type { Fuse, ScriptSetting } from "./crash/run-script.ts";
export { type PlantedBug, type PlantedBugsOptions, type PlantedBugsReport, runPlantedBugs } from "./planted/run-planted-bugs.ts";
export { describeFailure, type Figures, type RunSeedsOptions, runSeeds, type SeedsReport } from "./run/run-seeds.ts";
export { type SimulationReport, simulate } from "./run/simulate.ts";
export type { Outage, OutageKind } from "./schedules/outage.ts";
export { type OutageFailure, type OutagesOptions, type OutagesReport, runOutages } from "./schedules/run-outages.ts";
export {
  replaySchedule,
  runSchedules,
  type ScheduleFailure,
  type SchedulesOptions,
  type SchedulesReport,
} from "./schedules/run-schedules.ts";
export type { Dice } from "./world/dice.ts";
export type { ExpandedOptions, FaultRates, SimulateOptions } from "./world/expand-options.ts";
export type { NodeRole } from "./world/simulated-host.ts";
export type { ModelScript } from "./world/simulated-model.ts";
export type { Fate } from "./world/simulated-node.ts";
