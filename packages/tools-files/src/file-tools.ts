import type { Tool } from "@loopwright/core";
import { fileCreate } from "./file-create.ts";
import { fileList } from "./file-list.ts";
import { fileRead } from "./file-read.ts";
import { type FileToolsOptions, fileSettings } from "./file-tool-options.ts";

/** The tools `file_create`, `file_read` and `file_list` over one directory. @throws AgentError CONFIG_INVALID */
export function fileTools(options: FileToolsOptions = {}): readonly Tool[] {
  const settings = fileSettings(options);
  return [fileCreate(settings), fileRead(settings), fileList(settings)];
}
