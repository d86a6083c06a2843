/** Tools that run in a page: each call in one tab, also over reloads. */
export { type ClientToolsOptions, clientTools, runClientTools, type ToolsClient } from "./run-client-tools.ts";
export { platformLocks, platformNotes, type ToolLocks, type ToolNotes } from "./tool-platform.ts";
export type { RunningCall, ToolRuntime, ToolVerdict } from "./tool-runtime.ts";
