import { unlink } from "node:fs/promises";
import { temporaryPrefix } from "./file-path.ts";
import type { Folder } from "./folder.ts";
import { listTree } from "./list-tree.ts";

/** What the files of a directory use up. */
export interface DirectoryUsage {
  readonly entries: number;
  readonly bytes: number;
}

/** A temporary file this old was left by a process that died. */
const staleAfterMs = 60 * 60 * 1000;

/**
 * Counts files, folders and bytes below the root, and removes temporary files that a dead process left. Stops as soon as
 * there are more than `entriesMax` entries. One visit per entry.
 */
export async function measureUsage(root: Folder, entriesMax: number): Promise<DirectoryUsage> {
  let entries = 0;
  let bytes = 0;
  for await (const entry of listTree(root, { recursive: true })) {
    if (entry.name.startsWith(temporaryPrefix) && entry.stats.isFile() && Date.now() - entry.stats.mtimeMs > staleAfterMs) {
      await unlink(entry.folder.at(entry.name)).catch(() => {});
      continue;
    }
    entries++;
    if (entry.stats.isFile()) bytes += entry.stats.size;
    if (entries > entriesMax) break;
  }
  return { entries, bytes };
}
