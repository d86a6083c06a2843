/** Tools of a session that change while it runs. */
export type { DefaultListSettings } from "./default-tools.ts";
export { defaultChoice, defaultFirstList, defaultToolNames, orchestratorModes, toolNames } from "./default-tools.ts";
export type { NameRules, RegisteredTool, ToolEntry, ToolSources } from "./registered-tool.ts";
export type { ChoiceContext, ListChanges, ListContext, SessionTools, SessionToolsOptions } from "./session-tools.ts";
export { createSessionTools, modesOf, usedModes } from "./session-tools.ts";
export { envelope, opened, snippet } from "./shown-text.ts";
export { type UseAndThrowOptions, useAndThrow } from "./use-and-throw.ts";
