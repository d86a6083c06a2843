import { unlink } from "node:fs/promises";
import { temporaryPrefix } from "./file-path.ts";
import type { Folder } from "./folder.ts";
import { listTree, type TreeEntry } from "./list-tree.ts";

/** What the files of a directory use up. */
export interface DirectoryUsage {
  readonly entries: number;
  readonly bytes: number;
}

/** A temporary file this old was left by a process that died. */
const staleAfterMs = 60 * 60 * 1000;

/**
 * Counts files, folders and bytes below the root, and removes temporary files that a dead process left: after a while, and those whose names begin
 * with `ownTemporary` at once. Stops as soon as there are more than `entriesMax` entries. One visit per entry.
 */
export async function measureUsage(
  root: Folder,
  { entriesMax, ownTemporary }: { readonly entriesMax: number; readonly ownTemporary: string },
): Promise<DirectoryUsage> {
  let entries = 0;
  let bytes = 0;
  for await (const entry of listTree(root, { recursive: true })) {
    if (isLeftOver(entry, ownTemporary)) {
      await unlink(entry.folder.at(entry.name)).catch(() => {});
      continue;
    }
    entries++;
    if (entry.stats.isFile()) bytes += entry.stats.size;
    if (entries > entriesMax) break;
  }
  return { entries, bytes };
}

function isLeftOver({ name, stats }: TreeEntry, ownTemporary: string): boolean {
  if (!stats.isFile() || !name.startsWith(temporaryPrefix)) return false;
  return name.startsWith(ownTemporary) || Date.now() - stats.mtimeMs > staleAfterMs;
}
