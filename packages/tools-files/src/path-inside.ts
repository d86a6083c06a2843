import { join, relative } from "node:path";
import { fileError, translateError } from "./file-error.ts";
import { namesOf } from "./file-path.ts";
import { checkRegular, descend, findEntry, openRoot } from "./folder.ts";
import { listTree } from "./list-tree.ts";

/**
 * The path as it is on disk, relative to the directory: of a regular file with one name, of a folder, or of a file in an existing folder that is not there
 * yet. Links are refused in every place. A process that swaps folders after this check is not met by it: use it where none runs.
 * @throws AgentError INVALID_PATH, NOT_REGULAR, FILE_NOT_FOUND for a folder that is not there
 */
export async function pathInside(directory: string, path: string): Promise<string> {
  const names = namesOf(path);
  try {
    const root = await openRoot(directory, { create: false });
    if (!root) throw fileError("FILE_NOT_FOUND", path, "is in a directory that does not exist.");
    const top = root.truePath;
    const folder = await descend(root, names.slice(0, -1), { path });
    try {
      const last = names.at(-1) ?? "";
      const entry = await findEntry(folder, last);
      if (entry && !entry.stats.isDirectory()) checkRegular(entry.stats, path);
      return relative(top, join(folder.truePath, entry?.name ?? last));
    } finally {
      await folder.close();
    }
  } catch (error) {
    throw translateError(error, path);
  }
}

/** How many entries are below the directory, and the bytes of its files; counting ends above `entriesMax`. Zero where there is no directory. */
export async function usageInside(directory: string, entriesMax: number): Promise<{ readonly entries: number; readonly bytes: number }> {
  const root = await openRoot(directory, { create: false });
  let [entries, bytes] = [0, 0];
  if (!root) return { entries, bytes };
  try {
    for await (const { stats } of listTree(root, { recursive: true })) {
      entries++;
      if (stats.isFile()) bytes += stats.size;
      if (entries > entriesMax) break;
    }
  } finally {
    await root.close();
  }
  return { entries, bytes };
}
