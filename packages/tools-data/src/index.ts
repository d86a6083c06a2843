export { attachedTables } from "./attached-tables.ts";
export { type DataAnalysisOptions, dataAnalysisTool, dataAnalyst } from "./data-analysis-tool.ts";
export { type DataLimits, defaultDataLimits } from "./data-limits.ts";
export { type DataToolsOptions, dataTools, type TableSource } from "./data-tools.ts";
export type { AttachedTable } from "./load-table.ts";
export { defaultSnippetLimits, type SnippetLimits } from "./snippet/snippet-limits.ts";
export { type SnippetArguments, type SnippetToolOptions, snippetTool } from "./snippet/snippet-tool.ts";
