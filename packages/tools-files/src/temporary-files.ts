import { hash, randomUUID } from "node:crypto";
import { readdir, unlink } from "node:fs/promises";
import { temporaryPrefix } from "./file-path.ts";
import { type Entry, type Folder, statEntry } from "./folder.ts";

/** How the names of the temporary files of a call begin: all its attempts have the same. */
export function temporaryStart(idempotencyKey: string): string {
  return `${temporaryPrefix}${hash("sha256", idempotencyKey, "hex").slice(0, 32)}-`;
}

/** A new name for a temporary file of the call. */
export function temporaryName(idempotencyKey: string): string {
  return `${temporaryStart(idempotencyKey)}${randomUUID()}.tmp`;
}

/**
 * The entry, without the temporary name that a writer left which died between giving the file its name and taking the temporary one away. A second
 * name that is none of ours stays.
 */
export async function withoutTemporaryName(folder: Folder, entry: Entry): Promise<Entry> {
  if (!entry.stats.isFile() || entry.stats.nlink < 2) return entry;
  for (const name of await readdir(folder.self)) {
    if (!name.startsWith(temporaryPrefix)) continue;
    const other = await statEntry(folder, name);
    const isSame = other?.stats.ino === entry.stats.ino && other.stats.dev === entry.stats.dev;
    // Of a writer that lives it would be the next step anyway.
    if (isSame) await unlink(folder.at(name)).catch(() => {});
  }
  return (await statEntry(folder, entry.name)) ?? entry;
}
