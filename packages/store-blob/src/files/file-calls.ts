import { constants } from "node:fs";
import { link, lstat, mkdir, open, readdir, realpath, rename, rm, rmdir, statfs } from "node:fs/promises";
import { checkOpened, inFolder, linked, readFlags } from "./without-links.ts";

/**
 * What is asked of a file system, and no more: a test may put another in its place that loses what was not synced. Paths are true paths: a
 * call rejects with STORE_CORRUPT where one leads through a link, except that `truePath` follows links and `makeFolder` those above its folder.
 */
export interface FileCalls {
  /** The path without links; `undefined` where nothing is. */
  truePath(path: string): Promise<string | undefined>;
  /** True when it was made; false when it was there. The folder above exists. */
  makeFolder(path: string): Promise<boolean>;
  /** `undefined` where nothing is. With `hasOneName` it rejects with STORE_CORRUPT where the file has another name elsewhere, a hard link. */
  read(path: string, options?: { readonly hasOneName?: boolean }): Promise<Uint8Array | undefined>;
  /** Makes a new file and writes it; with `isDurable` the bytes are on the disk afterwards. */
  write(path: string, bytes: Uint8Array, isDurable: boolean): Promise<void>;
  /** A second name for a file; false when the name is taken. */
  link(from: string, to: string): Promise<boolean>;
  rename(from: string, to: string): Promise<void>;
  /** Nothing happens where nothing is. */
  remove(path: string): Promise<void>;
  /** True when there is no such folder any more; false when something is in it. */
  removeFolder(path: string): Promise<boolean>;
  /** Puts the names in a folder on the disk. */
  syncFolder(path: string): Promise<void>;
  /** Empty where no folder is. */
  names(path: string): Promise<readonly { readonly name: string; readonly isFolder: boolean }[]>;
  /** The kind of file system, as statfs(2) numbers it. */
  kindOf(path: string): Promise<number>;
}

/** The machine's own file system. */
export const nodeFiles: FileCalls = {
  truePath: (path) => unless("ENOENT", () => realpath(path), undefined),
  async makeFolder(path) {
    const isMade = await unless(
      "EEXIST",
      async () => {
        await mkdir(path, { mode: 0o700 });
        return true;
      },
      false,
    );
    if (!isMade && !(await lstat(path)).isDirectory()) throw linked(path);
    return isMade;
  },
  async read(path, { hasOneName = false } = {}) {
    try {
      const file = await open(path, readFlags);
      try {
        const { nlink } = await checkOpened(file, path);
        if (hasOneName && nlink > 1) throw linked(path);
        return await file.readFile();
      } finally {
        await file.close();
      }
    } catch (error) {
      if (codeOf(error) === "ELOOP") throw linked(path);
      if (codeOf(error) !== "ENOENT") throw error;
      // Nothing is there; unless a link on the way leads to where nothing is.
      await unless("ENOENT", () => inFolder(path, async () => undefined), undefined);
      return undefined;
    }
  },
  async write(path, bytes, isDurable) {
    const file = await open(path, "wx", 0o600);
    try {
      await file.writeFile(bytes);
      if (isDurable) await file.datasync();
    } finally {
      await file.close();
    }
  },
  link: (from, to) =>
    unless(
      "EEXIST",
      async () => {
        await inFolder(to, (place) => link(from, place));
        return true;
      },
      false,
    ),
  rename: (from, to) => inFolder(from, (source) => inFolder(to, (target) => rename(source, target))),
  remove: (path) => unless("ENOENT", () => inFolder(path, (place) => rm(place, { force: true })), undefined),
  async removeFolder(path) {
    try {
      await rmdir(path);
      return true;
    } catch (error) {
      const code = codeOf(error);
      if (code === "ENOENT") return true;
      if (code === "ENOTEMPTY" || code === "EEXIST") return false;
      throw error;
    }
  },
  async syncFolder(path) {
    const folder = await open(path, constants.O_RDONLY);
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  },
  names: (path) =>
    unless(
      "ENOENT",
      () =>
        inFolder(`${path.replace(/\/$/, "")}/.`, async (self) => {
          const entries = await readdir(self, { withFileTypes: true });
          return entries.map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }));
        }),
      [],
    ),
  kindOf: async (path) => (await statfs(path)).type,
};

async function unless<T>(code: string, work: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (codeOf(error) === code) return otherwise;
    throw error;
  }
}

/** The system's name of an error, for example `ENOSPC`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
