/** What tests of agents, tools and companions are made with. */
export { runTool, type ToolTrial, type ToolTrialOptions } from "./run-tool.ts";
