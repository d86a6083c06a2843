/** Models without a network: a canned stub for tests, the offline demonstration model, a recorder and a replayer. */

export type { ScriptedCall, ScriptedOptions, ScriptedProvider, ScriptedStep, ScriptedTurn } from "@loopwright/core/memory";
export { scripted } from "@loopwright/core/memory";
export type { Cassette, CassetteEntry } from "./cassette.ts";
export { cassetteFrom, cassetteOf, cassetteVersion } from "./cassette.ts";
export type { OfflineOptions } from "./offline.ts";
export { offline } from "./offline.ts";
export type { RecordOptions } from "./record.ts";
export { record } from "./record.ts";
export type { ReplayOptions } from "./replay.ts";
export { replay } from "./replay.ts";
