import { codeOf, type FileCalls } from "../src/files/file-calls.ts";
import { linked } from "../src/files/without-links.ts";

/** A file as it is now, and as it is on the disk. */
interface Inode {
  bytes: Uint8Array;
  /** Absent: no condition asks for it. */
  synced: Uint8Array | undefined;
}

type Entry = Inode | Folder;

/** Names as they are now, and as they are on the disk. */
interface Folder {
  readonly now: Map<string, Entry>;
  readonly synced: Map<string, Entry>;
}

const isFolder = (entry: Entry | undefined): entry is Folder => entry !== undefined && "now" in entry;
const failure = (code: string): Error => Object.assign(new Error(code), { code });

/** How many names a file has below a folder. */
function namesOf(file: Inode, folder: Folder): number {
  return [...folder.now.values()].reduce((count, entry) => count + (entry === file ? 1 : isFolder(entry) ? namesOf(file, entry) : 0), 0);
}

export interface SimulatedDisk {
  readonly files: FileCalls;
  /** The machine stops: what was synced stays, of the rest some does. Gives the disk as it is found afterwards. */
  crash(): SimulatedDisk;
}

export interface DiskOptions {
  readonly random: () => number;
  /** How often a call fails with EIO, from 0 to 1. */
  readonly failing?: () => number;
}

/** A disk in memory that knows what was synced. */
export function simulatedDisk(options: DiskOptions, root: Folder = { now: new Map(), synced: new Map() }): SimulatedDisk {
  const { random, failing = () => 0 } = options;

  function find(path: string): Entry | undefined {
    let entry: Entry | undefined = root;
    for (const name of path.split("/").filter((part) => part !== "")) entry = isFolder(entry) ? entry.now.get(name) : undefined;
    return entry;
  }

  function folderOf(path: string): readonly [Folder, string] {
    const cut = path.replace(/\/$/, "").lastIndexOf("/");
    const folder = find(path.slice(0, cut));
    if (!isFolder(folder)) throw failure("ENOENT");
    return [folder, path.slice(cut + 1).replace(/\/$/, "")];
  }

  /** A call takes a moment, in which others are served, and may fail. */
  async function call<T>(work: () => T): Promise<T> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    if (random() < failing()) throw failure("EIO");
    return work();
  }

  const files: FileCalls = {
    truePath: async (path) => path,
    makeFolder: (path) =>
      call(() => {
        const [folder, name] = folderOf(path);
        if (folder.now.has(name)) return false;
        folder.now.set(name, { now: new Map(), synced: new Map() });
        return true;
      }),
    read: (path, { hasOneName = false } = {}) =>
      call(() => {
        const found = find(path);
        if (hasOneName && found && !isFolder(found) && namesOf(found, root) > 1) throw linked(path);
        return isFolder(found) ? undefined : found?.bytes.slice();
      }),
    async write(path, bytes, isDurable) {
      const inode: Inode = { bytes: new Uint8Array(), synced: undefined };
      await call(() => {
        const [folder, name] = folderOf(path);
        if (folder.now.has(name)) throw failure("EEXIST");
        folder.now.set(name, inode);
      });
      await call(() => {
        inode.bytes = bytes.slice();
      });
      if (!isDurable) return;
      await call(() => {
        inode.synced = inode.bytes;
      });
    },
    link: (from, to) =>
      call(() => {
        const [folder, name] = folderOf(to);
        const inode = find(from);
        if (!inode) throw failure("ENOENT");
        if (folder.now.has(name)) return false;
        folder.now.set(name, inode);
        return true;
      }),
    rename: (from, to) =>
      call(() => {
        const [[source, name], [target, newName]] = [folderOf(from), folderOf(to)];
        const inode = source.now.get(name);
        if (!inode) throw failure("ENOENT");
        source.now.delete(name);
        target.now.set(newName, inode);
      }),
    remove: (path) =>
      call(() => {
        try {
          const [folder, name] = folderOf(path);
          folder.now.delete(name);
        } catch (error) {
          if (codeOf(error) !== "ENOENT") throw error;
        }
      }),
    removeFolder: (path) =>
      call(() => {
        const found = find(path);
        if (!isFolder(found)) return true;
        if (found.now.size > 0) return false;
        const [folder, name] = folderOf(path);
        folder.now.delete(name);
        return true;
      }),
    syncFolder: (path) =>
      call(() => {
        const folder = find(path);
        if (!isFolder(folder)) throw failure("ENOENT");
        folder.synced.clear();
        for (const [name, entry] of folder.now) folder.synced.set(name, entry);
      }),
    names: (path) =>
      call(() => {
        const folder = find(path);
        return isFolder(folder) ? [...folder.now].map(([name, entry]) => ({ name, isFolder: isFolder(entry) })) : [];
      }),
    kindOf: async () => 0,
  };

  return { files, crash: () => simulatedDisk(options, crashed(root, random)) };
}

/** Each name that was not synced is there or is not; bytes that were not synced are there, in part, or garbage. */
function crashed(folder: Folder, random: () => number): Folder {
  const entries = new Map<string, Entry>();
  for (const name of new Set([...folder.synced.keys(), ...folder.now.keys()])) {
    const [before, after] = [folder.synced.get(name), folder.now.get(name)];
    const kept = before === after || random() < 0.5 ? before : after;
    if (kept) entries.set(name, isFolder(kept) ? crashed(kept, random) : crashedFile(kept, random));
  }
  return { now: entries, synced: new Map(entries) };
}

function crashedFile({ bytes, synced }: Inode, random: () => number): Inode {
  let found = synced ?? bytes;
  if (!synced && random() < 0.7)
    found = random() < 0.5 ? bytes.slice(0, Math.floor(random() * bytes.length)) : new Uint8Array(bytes.length);
  return { bytes: found, synced: found };
}
