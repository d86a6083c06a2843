/** The tool `cli_execute`, and the runner of child processes below it. */
export { checkVariableName, childVariables, type Variables } from "./child-variables.ts";
export { type CliArguments, cliExecute } from "./cli-execute.ts";
export type { CliToolOptions } from "./cli-settings.ts";
export { findIsolation, type Isolation } from "./isolation.ts";
export { type CliLimits, type CliProgram, defaultCliLimits, type ValueRule } from "./program.ts";
export { programOutput } from "./program-output.ts";
export { readPrograms } from "./read-programs.ts";
export { type ProgramOutcome, type ProgramRun, runProgram, type StopReason } from "./run-program.ts";
