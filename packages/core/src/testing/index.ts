/** What tests of agents, tools and companions are made with. */

export type { Kit, KitCase, KitOptions, KitRunner, KitVerdict, Lack } from "./kit.ts";
export { differenceOf, expectSame, expectThat, runKit, tryKit } from "./kit.ts";
export { type CollectedAnswer, type CollectOptions, chunkFlaws, collectAnswer } from "./model-provider-kit-collect.ts";
export { runTool, type ToolTrial, type ToolTrialOptions } from "./run-tool.ts";
export { type MakeTool, type ToolSubject, toolKit } from "./tool-kit.ts";
