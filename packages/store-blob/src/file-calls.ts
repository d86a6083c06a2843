import { link, mkdir, open, readdir, readFile, rename, rm, statfs } from "node:fs/promises";

/** What is asked of a file system, and no more: a test may put another in its place that loses what was not synced. */
export interface FileCalls {
  /** True when it was made; false when it was there. The folder above exists. */
  makeFolder(path: string): Promise<boolean>;
  /** `undefined` where nothing is. */
  read(path: string): Promise<Uint8Array | undefined>;
  /** Makes a new file and writes it; with `isDurable` the bytes are on the disk afterwards. */
  write(path: string, bytes: Uint8Array, isDurable: boolean): Promise<void>;
  /** A second name for a file; false when the name is taken. */
  link(from: string, to: string): Promise<boolean>;
  rename(from: string, to: string): Promise<void>;
  /** Nothing happens where nothing is. */
  remove(path: string): Promise<void>;
  /** Puts the names in a folder on the disk. */
  syncFolder(path: string): Promise<void>;
  /** Empty where no folder is. */
  names(path: string): Promise<readonly { readonly name: string; readonly isFolder: boolean }[]>;
  /** The kind of file system, as statfs(2) numbers it. */
  kindOf(path: string): Promise<number>;
}

/** The machine's own file system. */
export const nodeFiles: FileCalls = {
  makeFolder: (path) =>
    unless(
      "EEXIST",
      async () => {
        await mkdir(path, { mode: 0o700 });
        return true;
      },
      false,
    ),
  read: (path) => unless("ENOENT", () => readFile(path), undefined),
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
        await link(from, to);
        return true;
      },
      false,
    ),
  rename,
  remove: (path) => rm(path, { force: true }),
  async syncFolder(path) {
    const folder = await open(path, "r");
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  },
  async names(path) {
    const entries = await unless("ENOENT", () => readdir(path, { withFileTypes: true }), []);
    return entries.map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }));
  },
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
