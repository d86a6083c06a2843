/** Models without a network: a canned stub for tests, the offline demonstration model, a recorder and a replayer. */
export type { OfflineOptions } from "./offline.ts";
export { offline } from "./offline.ts";
export type { ScriptedCall, ScriptedOptions, ScriptedProvider, ScriptedStep, ScriptedTurn } from "./scripted.ts";
export { scripted } from "./scripted.ts";
