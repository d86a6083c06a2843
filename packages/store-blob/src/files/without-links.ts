/*
 * Owns: reaching a file without following a link, so that nothing of one session is read from or written to another's folder.
 * On Linux a folder is opened first, its descriptor gives its true path, and entries are named through the descriptor: swapping a folder for a
 * link at the right moment gains nothing. Elsewhere the true path is compared before the call, and a process that swaps folders at the right moment could
 * win.
 */
import { constants, existsSync, type Stats } from "node:fs";
import { type FileHandle, open, readlink, realpath } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { AgentError } from "@loopwright/core";

/** `O_NOFOLLOW_ANY` of macOS 11 and later, which Node.js does not name. @see sys/fcntl.h of xnu (2026-11-21) */
const noFollowAny = process.platform === "darwin" ? 0x20000000 : 0;
/** Zero on platforms that lack them. */
const noFollow = (constants.O_NOFOLLOW ?? 0) | noFollowAny;

/** A FIFO must not keep its reader waiting. */
export const readFlags: number = constants.O_RDONLY | noFollow | (constants.O_NONBLOCK ?? 0);
const folderFlags = constants.O_RDONLY | noFollow | (constants.O_DIRECTORY ?? 0);

const hasDescriptorPaths = process.platform === "linux" && existsSync("/proc/self/fd");
const selfOf = ({ fd }: FileHandle): string => `/proc/self/fd/${fd}`;

/** Does something with an entry of a folder, by a path that cannot be redirected on Linux. @throws AgentError STORE_CORRUPT where the folder is reached through a link */
export async function inFolder<T>(path: string, work: (place: string) => Promise<T>): Promise<T> {
  const folder = dirname(path);
  if (!hasDescriptorPaths) {
    if ((await realpath(folder)) !== folder) throw linked(folder);
    return work(path);
  }
  const handle = await openFolder(folder);
  try {
    if ((await readlink(selfOf(handle))) !== folder) throw linked(folder);
    return await work(`${selfOf(handle)}/${basename(path)}`);
  } finally {
    await handle.close();
  }
}

async function openFolder(folder: string): Promise<FileHandle> {
  try {
    return await open(folder, folderFlags);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    // A link where a folder is asked for is either, by platform.
    throw code === "ELOOP" || code === "ENOTDIR" ? linked(folder) : error;
  }
}

/** The status of an open file that is where its path points. @throws AgentError STORE_CORRUPT when it is no regular file, or was reached through a link */
export async function checkOpened(file: FileHandle, path: string): Promise<Stats> {
  const stats = await file.stat();
  if (!stats.isFile()) throw linked(path);
  const place = hasDescriptorPaths ? await readlink(selfOf(file)) : await realpath(path);
  // A file that was removed or replaced since it was opened is the one that was there.
  if (place !== path && place !== `${path} (deleted)`) throw linked(path);
  return stats;
}

/** What is refused. */
export function linked(path: string): AgentError {
  return new AgentError("STORE_CORRUPT", {
    message: `\`${path}\` is or leads through a link, or is no regular file or folder.`,
    fix: "Put the file or folder itself there. Links and second names (hard links) inside a store are refused.",
  });
}
