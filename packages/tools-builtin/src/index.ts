/** Small tools for agents: time, maths, UUIDs, JSON and CSV. */
export { type BuiltinToolsOptions, builtinTools } from "./builtin-tools.ts";
