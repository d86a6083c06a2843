import type { Stats } from "node:fs";
import { readdir } from "node:fs/promises";
import { isAgentError } from "@loopwright/core";
import { systemCodeOf } from "./file-error.ts";
import { pathLimits } from "./file-limits.ts";
import { type Entry, type Folder, openChild, statEntry } from "./folder.ts";

export interface TreeEntry {
  /** Relative to the folder where the walk began, `/` between names, in NFC. */
  readonly path: string;
  readonly stats: Stats;
  /** The folder that holds it, open only until the next entry is asked for. */
  readonly folder: Folder;
  /** Its name on disk. */
  readonly name: string;
}

/**
 * Everything in a folder, sorted by name, a folder right before its content. Links are given, never followed; what
 * vanishes meanwhile is left out. Goes as deep as a path may be.
 */
export async function* listTree(
  folder: Folder,
  options: { readonly recursive: boolean; readonly prefix?: string; readonly level?: number },
): AsyncGenerator<TreeEntry, void> {
  const { prefix = "", level = 1 } = options;
  for (const name of (await readdir(folder.self)).sort()) {
    const entry = await statEntry(folder, name);
    if (!entry) continue;
    const path = `${prefix}${name.normalize("NFC")}`;
    yield { path, stats: entry.stats, folder, name };
    if (!options.recursive || level >= pathLimits.levelsMax || !entry.stats.isDirectory()) continue;
    const child = await openIfThere(folder, entry, path);
    if (!child) continue;
    try {
      yield* listTree(child, { recursive: true, prefix: `${path}/`, level: level + 1 });
    } finally {
      await child.close();
    }
  }
}

/** Absent when it was removed or swapped since it was seen. */
async function openIfThere(folder: Folder, entry: Entry, path: string): Promise<Folder | undefined> {
  try {
    return await openChild(folder, entry, path);
  } catch (error) {
    if (isAgentError(error) || ["ENOENT", "ELOOP", "ENOTDIR"].includes(systemCodeOf(error) ?? "")) return undefined;
    throw error;
  }
}
