/** Three agents for questions that need research. */
export type { AgentKindOptions, MainThreadOptions } from "./main-thread.ts";
export { mainThreadAgent } from "./main-thread.ts";
export type { AtLimit, PlanOptions } from "./plan-hooks.ts";
export { planHooks } from "./plan-hooks.ts";
export type { FewShot, PromptOptions } from "./prompt-hooks.ts";
export { promptHooks } from "./prompt-hooks.ts";
export type { RepairOptions } from "./repair-arguments.ts";
export { repairArguments } from "./repair-arguments.ts";
export type { Report } from "./research-tools.ts";
export { reportText, researchToolNames } from "./research-tools.ts";
export type { ResearcherOptions } from "./researcher.ts";
export { researcherAgent } from "./researcher.ts";
export type { SearchHistory } from "./search-history.ts";
export { memorySearchHistory } from "./search-history.ts";
export type { SupervisorOptions } from "./supervisor.ts";
export { deepResearchSupervisor } from "./supervisor.ts";
export type { PlanLimits, PlanTable, SettingsSource, UserSettings } from "./user-settings.ts";
