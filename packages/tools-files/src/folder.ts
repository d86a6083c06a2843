import { constants, type Stats } from "node:fs";
import { access, type FileHandle, lstat, mkdir, open, readdir, readlink, realpath } from "node:fs/promises";
import { join } from "node:path";
import { fileError, systemCodeOf } from "./file-error.ts";

/**
 * Owns: reaching files below a root without ever leaving it.
 * Does not own: which names a path may have (`file-path.ts`), what is done with a file.
 *
 * I1 A folder is reached name by name from the root; a symbolic link is refused, never followed.
 * I2 On Linux a folder is held open and its entries are addressed through its descriptor (`/proc/self/fd/N/name`), which
 *    acts like `openat`: replacing a folder by a link in the meantime has no effect.
 * I3 After each open the place is checked: by the descriptor's link on Linux, by identity and true path elsewhere.
 *
 * Without I2 a local process that swaps folders at the right moments can win against I3. On macOS the system itself refuses
 * links in any part of an opened path; on Windows nothing does, so there the directory must not be open to hostile processes.
 */
export interface Folder {
  /** The true absolute path: for checks, never for access. */
  readonly truePath: string;
  /** The path of an entry of this folder, in a form that cannot be redirected on Linux. */
  at(name: string): string;
  /** The folder itself, for listing. */
  readonly self: string;
  close(): Promise<void>;
}

export interface Entry {
  /** As it is on disk, perhaps not in NFC. */
  readonly name: string;
  readonly stats: Stats;
}

/** `O_NOFOLLOW_ANY` of macOS 11 and later, which Node.js does not name. @see sys/fcntl.h of xnu (2026-11-21) */
const noFollowAny = process.platform === "darwin" ? 0x20000000 : 0;
/** Zero on platforms that lack them. */
const noFollow = (constants.O_NOFOLLOW ?? 0) | noFollowAny;
const nonBlock = constants.O_NONBLOCK ?? 0;
const directoryOnly = constants.O_DIRECTORY ?? 0;

const readFlags: number = constants.O_RDONLY | noFollow | nonBlock;
export const createFlags: number = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow;

let descriptorsWork: Promise<boolean> | undefined;

/** True where entries can be addressed through a descriptor. */
function hasDescriptorPaths(): Promise<boolean> {
  descriptorsWork ??= canAccess("/proc/self/fd");
  return descriptorsWork;
}

async function canAccess(path: string): Promise<boolean> {
  if (process.platform !== "linux") return false;
  return access(path).then(
    () => true,
    () => false,
  );
}

/** The root, or `undefined` when it does not exist. With `create` it is made. It may itself be a link: that is the application's choice. */
export async function openRoot(
  directory: string,
  options: { readonly create: boolean; readonly descriptors?: boolean | undefined },
): Promise<Folder | undefined> {
  if (options.create) await mkdir(directory, { recursive: true, mode: 0o700 });
  let truePath: string;
  try {
    truePath = await realpath(directory);
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return undefined;
    throw error;
  }
  return openFolder(truePath, truePath, options.descriptors ?? (await hasDescriptorPaths()));
}

async function openFolder(address: string, truePath: string, descriptors: boolean): Promise<Folder> {
  if (!descriptors) {
    const [stats, path] = [await lstat(address), await realpath(address)];
    if (!stats.isDirectory() || path !== truePath) throw movedError();
    return { truePath, self: address, at: (name) => join(address, name), close: async () => {} };
  }
  const handle = await open(address, constants.O_RDONLY | directoryOnly | noFollow | nonBlock);
  const self = `/proc/self/fd/${handle.fd}`;
  try {
    if ((await readlink(self)) !== truePath) throw movedError();
  } catch (error) {
    await handle.close();
    throw error;
  }
  return { truePath, self, at: (name) => `${self}/${name}`, close: () => handle.close() };
}

/** The entry of this name, or its twin whose name differs only in its Unicode form. */
export async function findEntry(folder: Folder, name: string): Promise<Entry | undefined> {
  const exact = await statEntry(folder, name);
  if (exact) return exact;
  for (const twin of await readdir(folder.self)) {
    if (twin !== name && twin.normalize("NFC") === name) return statEntry(folder, twin);
  }
  return undefined;
}

/** The entry of exactly this name. */
export async function statEntry(folder: Folder, name: string): Promise<Entry | undefined> {
  try {
    return { name, stats: await lstat(folder.at(name)) };
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** The sub-folder, opened. @throws AgentError NOT_REGULAR for a link, INVALID_PATH for a file. */
export async function openChild(folder: Folder, entry: Entry, path: string): Promise<Folder> {
  if (entry.stats.isSymbolicLink()) throw linkError(path);
  if (!entry.stats.isDirectory()) throw fileError("INVALID_PATH", path, "goes through something that is not a folder.");
  return openFolder(folder.at(entry.name), join(folder.truePath, entry.name), folder.self.startsWith("/proc/self/fd/"));
}

/**
 * The folder that the names lead to; the root is closed by it, whatever happens. `onMissing` may make the first missing
 * name and the rest by returning true; without it a missing folder is FILE_NOT_FOUND.
 */
export async function descend(
  root: Folder,
  names: readonly string[],
  options: { readonly path: string; readonly onMissing?: (missingCount: number) => void },
): Promise<Folder> {
  let folder = root;
  try {
    for (const [index, name] of names.entries()) {
      let entry = await findEntry(folder, name);
      if (!entry) {
        if (!options.onMissing) throw fileError("FILE_NOT_FOUND", options.path, "does not exist.");
        options.onMissing(names.length - index);
        entry = await makeFolder(folder, name, options.path);
      }
      const next = await openChild(folder, entry, options.path);
      await folder.close();
      folder = next;
    }
    return folder;
  } catch (error) {
    await folder.close();
    throw error;
  }
}

async function makeFolder(folder: Folder, name: string, path: string): Promise<Entry> {
  try {
    await mkdir(folder.at(name), { mode: 0o700 });
  } catch (error) {
    if (systemCodeOf(error) !== "EEXIST") throw error;
  }
  const entry = await statEntry(folder, name);
  if (!entry) throw fileError("FILE_NOT_FOUND", path, "was removed while it was being made.");
  return entry;
}

/** The regular file, opened for reading. The caller closes it. @throws AgentError NOT_REGULAR for anything else, hard links included. */
export async function openRegular(folder: Folder, entry: Entry, path: string): Promise<FileHandle> {
  checkRegular(entry.stats, path);
  const handle = await open(folder.at(entry.name), readFlags);
  try {
    const stats = await handle.stat();
    checkRegular(stats, path);
    await checkPlace(folder, entry.name, handle);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** @throws AgentError NOT_REGULAR unless it is a regular file with one name. */
export function checkRegular(stats: Stats, path: string): void {
  if (stats.isSymbolicLink()) throw linkError(path);
  if (stats.isDirectory()) throw fileError("NOT_REGULAR", path, { what: "is a folder.", fix: "Use `file_list` to see what is in it." });
  if (!stats.isFile()) throw fileError("NOT_REGULAR", path, "is not a regular file.");
  if (stats.nlink > 1) throw fileError("NOT_REGULAR", path, "is a hard link: the file has another name elsewhere.");
}

/** I3. A file that was replaced since it was opened is still the file that was there. */
export async function checkPlace(folder: Folder, name: string, handle: FileHandle): Promise<void> {
  const expected = join(folder.truePath, name);
  if (folder.self.startsWith("/proc/self/fd/")) {
    const place = await readlink(`/proc/self/fd/${handle.fd}`);
    if (place !== expected && place !== `${expected} (deleted)`) throw movedError();
    return;
  }
  const [held, named, path] = [await handle.stat(), await lstat(expected), await realpath(expected)];
  if (path !== expected || held.ino !== named.ino || held.dev !== named.dev) throw movedError();
}

function linkError(path: string): Error {
  return fileError("NOT_REGULAR", path, "is or goes through a symbolic link; links are not followed.");
}

function movedError(): Error {
  return fileError("INVALID_PATH", ".", {
    what: "changed its place while it was being opened.",
    fix: "Try again when no other process moves the files.",
  });
}
