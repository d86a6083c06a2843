import { basename, dirname, join, resolve } from "node:path";
import { AgentError, isAgentError } from "@loopwright/core";
import type { Clock } from "@loopwright/core/ports";
import { storeLimits } from "../store-limits.ts";
import { codeOf, type FileCalls } from "./file-calls.ts";
import { type FolderLock, lockFolder } from "./folder-lock.ts";
import { FolderSync } from "./folder-sync.ts";

/** Kinds of file systems that several machines may share. @see https://man7.org/linux/man-pages/man2/statfs.2.html (2026-11-21) */
const networkKinds: { readonly [kind: number]: string } = {
  26985: "NFS",
  20859: "SMB",
  4283649346: "CIFS",
  4266872130: "SMB2",
  16914839: "9P",
  1397113167: "AFS",
  12805120: "Ceph",
  198183888: "Lustre",
  1952539503: "OCFS2",
  18225520: "GFS2",
};

export interface FileFolderOptions {
  readonly folder: string;
  readonly force: boolean;
  readonly files: FileCalls;
  readonly clock: Pick<Clock, "monotonic" | "after">;
  /** Names what `clock` counts, where other processes have the same; else empty. */
  readonly clockName: string;
  readonly leaseMs: number;
}

interface WriteOptions {
  /** Only where nothing is. */
  readonly isNew: boolean;
  readonly isDurable: boolean;
}

/** Folders that are open in this process. */
const openHere = new Set<string>();

/** A folder of files: its lock, its tree of folders, and how a file gets into it. */
export class FileFolder {
  /** Without links from `open` on. */
  #folder: string;
  readonly #options: FileFolderOptions;
  readonly #files: FileCalls;
  readonly #sync: FolderSync;
  /** Folders that are known to exist durably. A folder that is removed from this set is checked again. */
  readonly #made = new Map<string, Promise<void>>();
  /** Files that got their names since the last good sync of their folder. */
  readonly #named = new Map<string, Set<string>>();
  /** Folders above the store's own in which this process made one, and whose names are not yet known to be on the disk. */
  readonly #unsyncedParents = new Set<string>();
  /** Folders whose last sync failed. */
  readonly #failed = new Set<string>();
  /** Files that are being renamed: for a moment they have their draft's name, too. Resolves with a draft that could not be removed. */
  readonly #naming = new Map<string, Promise<string | undefined>>();
  #opening: Promise<FolderLock> | undefined;
  #lock: FolderLock | undefined;
  #isClosed = false;

  constructor(options: FileFolderOptions) {
    this.#folder = resolve(options.folder);
    this.#options = options;
    this.#files = options.files;
    this.#sync = new FolderSync(options.files);
  }

  get root(): string {
    return this.#folder;
  }

  pathOf(key: string): string {
    return `${this.#folder}/${key}`;
  }

  /** Takes the folder at the first call. @throws AgentError STORE_UNAVAILABLE, CONFIG_INVALID */
  async open(): Promise<void> {
    if (this.#isClosed) throw new AgentError("STORE_UNAVAILABLE", { message: `The store ${this.#folder} is closed.` });
    this.#opening ??= this.#open();
    try {
      this.#lock = await this.#opening;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
    await this.#lock.check();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const lock = await this.#opening?.catch(() => undefined);
    if (!lock) return;
    await lock.release();
    openHere.delete(this.#folder);
  }

  /** `undefined` where nothing is. @throws AgentError STORE_CORRUPT where a link leads there, or the file has a second name */
  async read(key: string): Promise<Uint8Array | undefined> {
    return this.#read(this.pathOf(key));
  }

  async #read(path: string): Promise<Uint8Array | undefined> {
    try {
      return await this.#files.read(path, { hasOneName: true });
    } catch (error) {
      if (!isAgentError(error, "STORE_CORRUPT")) throw error;
      await this.#removeLeftDraft(path);
      return this.#files.read(path, { hasOneName: true });
    }
  }

  /** A draft of ours that a failing disk kept is a second name of its file, and no flaw of it. @throws AgentError STORE_UNAVAILABLE while it stays */
  async #removeLeftDraft(path: string): Promise<void> {
    const draft = await this.#naming.get(path);
    if (draft === undefined || (await this.#removeDraft(path, draft)) === undefined) return;
    throw new AgentError("STORE_UNAVAILABLE", {
      message: `The disk under the store ${this.#folder} failed: a draft could not be removed.`,
      fix: "Check the disk; nothing acknowledged is lost.",
    });
  }

  /** `unknown`: the file has its name, but may lose it in a power failure. A rejection means that nothing was written. */
  async write(key: string, bytes: Uint8Array, { isNew, isDurable }: WriteOptions): Promise<"written" | "taken" | "unknown"> {
    const path = this.pathOf(key);
    const folder = dirname(path);
    await this.#makeFolders(folder);
    await this.recover(key);
    if (!(await this.#giveName(path, bytes, { isNew, isDurable }))) return "taken";
    if (!isDurable) return "written";
    this.#namedSince(folder).add(path);
    try {
      await this.#syncNames(folder);
      return "written";
    } catch {
      this.#failed.add(folder);
      return "unknown";
    }
  }

  /** Removes a file where there is one. With `isDurable` its name is gone from the disk, too. */
  async remove(key: string, isDurable: boolean): Promise<void> {
    await this.#takeAway(key);
    if (!isDurable) return;
    const folder = dirname(this.pathOf(key));
    try {
      await this.#sync.sync(folder);
    } catch (error) {
      // Without a folder there was no file.
      if (codeOf(error) === "ENOENT") return;
      this.#failed.add(folder);
      throw error;
    }
  }

  /** Out of its place into the drafts, which a process that has lost the folder cannot do. */
  async #takeAway(key: string): Promise<void> {
    const draft = this.#held.draft();
    try {
      await this.#files.rename(this.pathOf(key), draft);
    } catch (error) {
      if (codeOf(error) === "ENOENT") return;
      throw error;
    }
    try {
      await this.#files.remove(draft);
    } catch (error) {
      // The object has lost its name; the next holder removes the drafts. A folder in place of a file is not ours, so it is moved back.
      if (!isFolderError(error)) return;
      await this.#files.rename(draft, this.pathOf(key));
      throw error;
    }
  }

  /**
   * Writes the files that were named since the last good sync of a key's folder again, if its last sync failed: the system may have dropped what it
   * could not write, and report success next time. Rejects as long as that fails.
   */
  async recover(key: string): Promise<void> {
    const folder = dirname(this.pathOf(key));
    if (!this.#failed.has(folder)) return;
    for (const path of [...this.#namedSince(folder)]) {
      const bytes = await this.#read(path);
      if (bytes) await this.#giveName(path, bytes, { isNew: false, isDurable: true });
    }
    await this.#syncNames(folder);
    this.#failed.delete(folder);
  }

  /** False when the name is taken. */
  async #giveName(path: string, bytes: Uint8Array, { isNew, isDurable }: WriteOptions): Promise<boolean> {
    const draft = this.#held.draft();
    if (isNew) await this.#removeLeftDraft(path);
    const named = Promise.withResolvers<string | undefined>();
    if (isNew) this.#naming.set(path, named.promise);
    try {
      await this.#files.write(draft, bytes, isDurable);
      if (isNew) return await this.#files.link(draft, path);
      await this.#files.rename(draft, path);
      return true;
    } catch (error) {
      // Either the place or the draft is missing: the drafts go when another process takes the folder over.
      if (codeOf(error) === "ENOENT") await this.#held.renew();
      throw error;
    } finally {
      named.resolve(await this.#removeDraft(path, draft));
    }
  }

  /** Returns the draft if it cannot be removed. */
  async #removeDraft(path: string, draft: string): Promise<string | undefined> {
    try {
      await this.#files.remove(draft);
      this.#naming.delete(path);
      return undefined;
    } catch {
      return draft;
    }
  }

  async #syncNames(folder: string): Promise<void> {
    const named = this.#namedSince(folder);
    const covered = [...named];
    await this.#sync.sync(folder);
    for (const path of covered) named.delete(path);
    if (named.size === 0) this.#named.delete(folder);
  }

  #namedSince(folder: string): Set<string> {
    const named = this.#named.get(folder) ?? new Set();
    this.#named.set(folder, named);
    return named;
  }

  /**
   * Keys that start with the prefix and come after `after`, in no order. An unreadable folder is listed under its own name, so that it does not
   * hide the files beside it.
   */
  async keys(prefix: string, after = ""): Promise<string[]> {
    const keys: string[] = [];
    const look = async (start: string): Promise<void> => {
      for (const { name, isFolder } of await this.#files.names(this.pathOf(start))) {
        const key = `${start}${name}${isFolder ? "/" : ""}`;
        if (isFolder && mayHold(key, prefix, after))
          await look(key).catch((error: unknown) => {
            if (!isUnreadable(error)) throw error;
            const own = key.slice(0, -1);
            if (own.startsWith(prefix) && own > after) keys.push(own);
          });
        else if (!isFolder && key.startsWith(prefix) && key > after) keys.push(key);
      }
    };
    const start = prefix.slice(0, prefix.lastIndexOf("/") + 1);
    await look(start);
    return keys;
  }

  /** @throws AgentError STORE_UNAVAILABLE before `open` */
  get #held(): FolderLock {
    if (this.#lock) return this.#lock;
    throw new AgentError("STORE_UNAVAILABLE", { message: `The store ${this.#folder} is not open.` });
  }

  async #open(): Promise<FolderLock> {
    const files = this.#files;
    this.#folder = await this.#truePath(this.#folder);
    if (openHere.has(this.#folder))
      throw new AgentError("STORE_UNAVAILABLE", {
        message: `The store ${this.#folder} is in use by this process ${process.pid} already.`,
        fix: "Share the one store, or close it first.",
        details: { pid: process.pid },
      });
    openHere.add(this.#folder);
    try {
      await this.#makeRoot(this.#folder);
      const kind = networkKinds[(await files.kindOf(this.#folder)) >>> 0];
      if (kind !== undefined && !this.#options.force)
        throw new AgentError("CONFIG_INVALID", {
          message: `The folder ${this.#folder} lies on a network file system (${kind}), where other machines cannot be kept out.`,
          fix: "Name a local folder, or set `force` if no other machine uses it.",
        });
      return await lockFolder({ ...this.#options, folder: this.#folder, isCancelled: () => this.#isClosed });
    } catch (error) {
      openHere.delete(this.#folder);
      throw error;
    }
  }

  /** The path without links, also where its end is not there yet. The folder itself may be a link: that is the application's choice. */
  async #truePath(path: string): Promise<string> {
    const found = await this.#files.truePath(path);
    if (found !== undefined || dirname(path) === path) return found ?? path;
    return join(await this.#truePath(dirname(path)), basename(path));
  }

  /**
   * Makes the folder and those above it, and puts their names on the disk. Names whose sync failed are synced at the next try: without them a power
   * cut would take the whole store. A folder that was there is synced too, for the process that made it may have failed to.
   */
  async #makeRoot(path: string): Promise<void> {
    await this.#makeMissing(path);
    const isOurs = this.#unsyncedParents.has(dirname(path));
    for (const folder of this.#unsyncedParents) {
      await this.#files.syncFolder(folder);
      this.#unsyncedParents.delete(folder);
    }
    if (isOurs) return;
    await this.#files.syncFolder(dirname(path)).catch((error: unknown) => {
      if (!isUnreadable(error)) throw error;
    });
  }

  async #makeMissing(path: string): Promise<void> {
    try {
      if (await this.#files.makeFolder(path)) this.#unsyncedParents.add(dirname(path));
    } catch (error) {
      if (codeOf(error) !== "ENOENT" || dirname(path) === path) throw error;
      await this.#makeMissing(dirname(path));
      await this.#makeMissing(path);
    }
  }

  /** Makes a folder and those above it, and puts their names on the disk. In each process once also where it was there: it may not have been synced. */
  #makeFolders(path: string): Promise<void> {
    if (path.length <= this.#folder.length) return Promise.resolve();
    const known = this.#made.get(path);
    if (known) return known;
    const making = this.#makeFolders(dirname(path)).then(async () => {
      await this.#files.makeFolder(path);
      await this.#sync.sync(dirname(path));
      // What a process before us gave a name may not have reached the disk either.
      await this.#sync.sync(path);
    });
    this.#made.set(path, making);
    making.catch(() => this.#made.delete(path));
    const [oldest] = this.#made.keys();
    if (this.#made.size > storeLimits.knownFoldersMax && oldest !== undefined) this.#made.delete(oldest);
    return making;
  }
}

function isUnreadable(error: unknown): boolean {
  return ["EACCES", "EPERM", "ENOTDIR", "ELOOP"].includes(codeOf(error) ?? "");
}

/** Whether a folder may hold keys with the prefix that come after `after`. */
function mayHold(folder: string, prefix: string, after: string): boolean {
  if (folder.startsWith(".")) return false;
  return (folder.startsWith(prefix) || prefix.startsWith(folder)) && (after < folder || after.startsWith(folder));
}

const isFolderError = (error: unknown): boolean => codeOf(error) === "EISDIR" || codeOf(error) === "ERR_FS_EISDIR";
