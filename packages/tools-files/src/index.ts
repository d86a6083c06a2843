/** File tools for agents: create, read and list inside one directory. */
export { defaultFileLimits, type FileLimits } from "./file-limits.ts";
export { defaultFilesDirectory, type FileToolsOptions } from "./file-tool-options.ts";
export { fileTools } from "./file-tools.ts";
export { pathInside, usageInside } from "./path-inside.ts";
