import { defineTool, type JsonObject, type Tool } from "@loopwright/core";
import { z } from "zod";
import { fileError, translateError } from "./file-error.ts";
import { namesOf, temporaryPrefix } from "./file-path.ts";
import type { FileSettings } from "./file-tool-options.ts";
import { descend, openRoot } from "./folder.ts";
import { listTree, type TreeEntry } from "./list-tree.ts";
import { withoutTemporaryName } from "./temporary-files.ts";

export interface FileListArguments {
  readonly folder?: string | undefined;
  readonly recursive?: boolean | undefined;
}

const parameters: z.ZodType<FileListArguments> = z.object({
  folder: z.string().optional().describe("Folder to list, for example notes. Default: everything."),
  recursive: z.boolean().optional().describe("Also what is in its folders. Default true."),
});

/** The tool `file_list`: sorted by name, a folder right before its content. */
export function fileList(settings: FileSettings): Tool<FileListArguments> {
  return defineTool({
    name: "file_list",
    label: "List files",
    description: "Lists the files and folders of the shared files directory, with sizes in bytes.",
    parameters,
    replay: "pure",
    async execute({ folder = "", recursive = true }, context): Promise<JsonObject> {
      const names = folder === "" ? [] : namesOf(folder);
      try {
        const { limits, descriptors } = settings;
        return await list({ directory: settings.directoryOf(context), names, path: folder, recursive, descriptors }, limits.listEntriesMax);
      } catch (error) {
        throw translateError(error, folder);
      }
    },
  });
}

interface ListRequest {
  readonly directory: string;
  readonly names: readonly string[];
  readonly path: string;
  readonly recursive: boolean;
  readonly descriptors: boolean | undefined;
}

async function list(request: ListRequest, entriesMax: number): Promise<JsonObject> {
  const { names, path, recursive } = request;
  const root = await openRoot(request.directory, { create: false, descriptors: request.descriptors });
  if (!root) {
    if (names.length > 0) throw fileError("FILE_NOT_FOUND", path, "does not exist.");
    return { entries: [] };
  }
  const folder = await descend(root, names, { path });
  const entries: JsonObject[] = [];
  try {
    for await (const entry of listTree(folder, { recursive, prefix: names.map((name) => `${name}/`).join(""), level: names.length + 1 })) {
      if (entry.name.startsWith(temporaryPrefix)) continue;
      if (entries.length >= entriesMax) return { entries, note: `Only the first ${entriesMax}; list single folders to see the rest.` };
      const { stats } = await withoutTemporaryName(entry.folder, entry);
      entries.push(shown({ ...entry, stats }));
    }
    return { entries };
  } finally {
    await folder.close();
  }
}

/** What can be neither read nor entered is listed as `other`. */
function shown({ path, stats }: TreeEntry): JsonObject {
  if (stats.isDirectory()) return { path, type: "folder" };
  if (stats.isFile() && stats.nlink === 1) return { path, type: "file", sizeBytes: stats.size };
  return { path, type: "other" };
}
