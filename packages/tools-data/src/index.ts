export { type DataLimits, defaultDataLimits } from "./data-limits.ts";
export { type DataToolsOptions, dataTools, type TableSource } from "./data-tools.ts";
export type { AttachedTable } from "./load-table.ts";
