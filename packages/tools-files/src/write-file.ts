import { type FileHandle, link, open, rename, unlink } from "node:fs/promises";
import type { AgentError } from "@loopwright/core";
import { measureUsage } from "./directory-usage.ts";
import { fileError, systemCodeOf } from "./file-error.ts";
import type { FileLimits } from "./file-limits.ts";
import { checkPlace, checkRegular, createFlags, descend, type Entry, type Folder, findEntry, openRegular, openRoot } from "./folder.ts";
import { temporaryName, temporaryStart, withoutTemporaryName } from "./temporary-files.ts";

export interface WriteRequest {
  readonly directory: string;
  readonly path: string;
  readonly names: readonly string[];
  readonly bytes: Uint8Array;
  readonly overwrite: boolean;
  /** The same for all attempts of one call: a later one removes what an earlier one left. */
  readonly idempotencyKey: string;
  readonly limits: FileLimits;
  /** Default: where the platform has them. */
  readonly descriptors?: boolean | undefined;
}

export type WriteOutcome = "created" | "replaced" | "unchanged";

/**
 * Writes the whole file or nothing: a temporary file beside it, on disk before it gets its name. A file that already has
 * exactly this content is left as it is, so doing it again is harmless.
 * @throws AgentError FILE_EXISTS, FILE_LIMIT, NOT_REGULAR, INVALID_PATH
 */
export async function writeFileIn(request: WriteRequest): Promise<WriteOutcome> {
  const { directory, path, names, bytes, limits } = request;
  if (bytes.length > limits.fileBytesMax)
    throw limitError(path, `would have ${bytes.length} bytes; a file may have ${limits.fileBytesMax}.`);
  const root = await openRoot(directory, { create: true, descriptors: request.descriptors });
  if (!root) throw fileError("FILE_NOT_FOUND", path, "has no directory to be in.");
  let folder = root;
  try {
    const usage = await measureUsage(root, { entriesMax: limits.entriesMax, ownTemporary: temporaryStart(request.idempotencyKey) });
    const checkRoom = (newEntries: number, replacedBytes: number): void => {
      if (usage.entries + newEntries > limits.entriesMax)
        throw limitError(path, `would be one too many: ${limits.entriesMax} files and folders may exist.`);
      if (usage.bytes - replacedBytes + bytes.length > limits.totalBytesMax)
        throw limitError(path, `does not fit: all files together may have ${limits.totalBytesMax} bytes.`);
    };
    folder = await descend(root, names.slice(0, -1), { path, onMissing: (missing) => checkRoom(missing + 1, 0) });
    const name = names.at(-1) ?? "";
    const found = await findEntry(folder, name);
    const present = found && (await withoutTemporaryName(folder, found));
    if (present) {
      checkRegular(present.stats, path);
      if (await hasContent(folder, present, { path, bytes })) return "unchanged";
      if (!request.overwrite) throw fileError("FILE_EXISTS", path, "exists already with another content.");
    }
    checkRoom(present ? 0 : 1, present?.stats.size ?? 0);
    const { idempotencyKey } = request;
    await place(folder, present?.name ?? name, { bytes, path, idempotencyKey, replace: present !== undefined });
    return present ? "replaced" : "created";
  } finally {
    await folder.close();
  }
}

async function hasContent(folder: Folder, entry: Entry, wanted: { readonly path: string; readonly bytes: Uint8Array }): Promise<boolean> {
  if (entry.stats.size !== wanted.bytes.length) return false;
  const handle = await openRegular(folder, entry, wanted.path);
  try {
    return Buffer.compare(await handle.readFile(), wanted.bytes) === 0;
  } finally {
    await handle.close();
  }
}

async function place(
  folder: Folder,
  name: string,
  file: { readonly bytes: Uint8Array; readonly path: string; readonly idempotencyKey: string; readonly replace: boolean },
): Promise<void> {
  const temporary = temporaryName(file.idempotencyKey);
  const handle = await open(folder.at(temporary), createFlags, 0o600);
  let isNamed = false;
  try {
    await fill(handle, { folder, temporary, bytes: file.bytes });
    if (file.replace) {
      await rename(folder.at(temporary), folder.at(name));
      isNamed = true;
    } else isNamed = await nameAnew(folder, temporary, { name, path: file.path });
  } finally {
    if (!isNamed) await unlink(folder.at(temporary)).catch(() => {});
  }
}

async function fill(
  handle: FileHandle,
  to: { readonly folder: Folder; readonly temporary: string; readonly bytes: Uint8Array },
): Promise<void> {
  try {
    await checkPlace(to.folder, to.temporary, handle);
    await handle.writeFile(to.bytes);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

/** Gives the file its name only if the name is free: `rename` would replace a file silently. True when the temporary name no longer exists. */
async function nameAnew(folder: Folder, temporary: string, target: { readonly name: string; readonly path: string }): Promise<boolean> {
  try {
    await link(folder.at(temporary), folder.at(target.name));
    return false;
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === "EEXIST") throw fileError("FILE_EXISTS", target.path, "exists already.");
    // File systems without hard links.
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EXDEV"].includes(code ?? "")) throw error;
    await rename(folder.at(temporary), folder.at(target.name));
    return true;
  }
}

function limitError(path: string, what: string): AgentError {
  return fileError("FILE_LIMIT", path, what);
}
