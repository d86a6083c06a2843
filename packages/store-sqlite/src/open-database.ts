import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import type { WorkerOptions } from "./operation.ts";
import { applicationId, migrate, readableVersion, schemaVersion, standIns } from "./schema.ts";
import { isBusy, isFull, isReadOnly, StoreFault } from "./store-fault.ts";

/** An open file, checked and brought to the newest version. */
export interface OpenedDatabase {
  readonly database: DatabaseSync;
  readonly isReadOnly: boolean;
  /** It keeps other processes out, so it must be closed after the calls that it was opened for. */
  readonly isExclusive?: boolean;
}

const memory = ":memory:";
const busyPauseMs = 20;
/** No database is smaller. @see https://www.sqlite.org/fileformat2.html (2026-11-21): the smallest page. */
const headerBytes = 512;

/** True when there is nothing to read yet. */
export function isMissing(path: string): boolean {
  return path !== memory && !existsSync(path);
}

/** True when nothing forbids that the file is written: what refuses a write then is the disk, and may pass. */
export function mayWrite(path: string): boolean {
  const beside = [`${path}-wal`, `${path}-shm`].filter((each) => existsSync(each));
  try {
    for (const each of [dirname(path), path, ...beside]) accessSync(each, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Opens the file of a store, making it and its folder where it is missing; for this user's eyes only.
 * Where it may not be written it is opened for reading. With `isUncertain` it opens only when all that it holds is on the disk. Throws
 * StoreFault or errors of the engine.
 */
export function openDatabase(options: WorkerOptions, isUncertain: boolean): OpenedDatabase {
  refuseStump(options.path);
  if (options.path !== memory && !touch(options.path)) return openForReading(options);
  const deadline = performance.now() + options.busyTimeoutMs;
  const settle = isUncertain ? settleAll : hasLog(options.path) ? settleSome : undefined;
  for (;;) {
    const database = new DatabaseSync(options.path);
    try {
      prepareForWriting(database, options);
      settle?.(database, options.path);
      return { database, isReadOnly: false };
    } catch (error) {
      database.close();
      // A failing disk does not make a read-only store: it would stay one after the disk has recovered.
      if (isReadOnly(error) && !mayWrite(options.path)) return openForReading(options);
      // Turning to write-ahead logging does not wait for other processes by itself.
      if (!isBusy(error) || performance.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, busyPauseMs);
    }
  }
}

/** Makes the file where it is missing. False when it may not be written. */
function touch(path: string): boolean {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    closeSync(openSync(path, "a", 0o600));
    return true;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (existsSync(path) && (code === "EACCES" || code === "EPERM" || code === "EROFS")) return false;
    throw error;
  }
}

/** The engine takes a piece of a file for an empty one. */
function refuseStump(path: string): void {
  const found = path === memory ? undefined : statSync(path, { throwIfNoEntry: false });
  // A folder has a size too: on a file system in memory a small one.
  const sizeBytes = found?.isFile() ? found.size : 0;
  if (sizeBytes > 0 && sizeBytes < headerBytes)
    throw new StoreFault({
      code: "STORE_CORRUPT",
      message: `The file ${path} is cut short: it has ${sizeBytes} bytes.`,
      fix: `Restore ${path} from a backup, or move it away to start anew.`,
    });
}

/**
 * Opens a file for reading on a disk without space, where the engine cannot make the index of the write-ahead log that processes share: alone,
 * with the index in memory. Throws what `openDatabase` threw where that was not for lack of space.
 */
export function openOnFullDisk({ path, busyTimeoutMs }: WorkerOptions, refusal: unknown): OpenedDatabase {
  if (!isFull(refusal) || isMissing(path)) throw refusal;
  const database = new DatabaseSync(path);
  try {
    database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}; PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY`);
    checkReadable(database, path);
    return { database, isReadOnly: true, isExclusive: true };
  } catch (error) {
    database.close();
    throw isFull(error) || isBusy(error) ? refusal : error;
  }
}

function prepareForWriting(database: DatabaseSync, { path, busyTimeoutMs, sizeMaxBytes }: WorkerOptions): void {
  database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  // What is deleted is overwritten with zeros: it must not stand in free pages.
  database.exec("PRAGMA secure_delete = ON");
  if (versionOf(database, path) < schemaVersion) {
    database.exec("BEGIN IMMEDIATE");
    // Another process may have been quicker.
    const version = versionOf(database, path);
    if (version < schemaVersion) migrate(database, version);
    database.exec("COMMIT");
  }
  // FULL: a commit is on the disk before it is acknowledged.
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 16777216");
  if (sizeMaxBytes !== undefined)
    database.exec(`PRAGMA max_page_count = ${Math.max(1, Math.floor(sizeMaxBytes / pragma(database, "page_size")))}`);
}

/** True when a process has left a write-ahead log behind, or another one is at work. */
function hasLog(path: string): boolean {
  return path !== memory && (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/**
 * Puts everything that can be read on the disk, once more. After a sync that failed the write-ahead log may hold commits that were never
 * acknowledged, and that the system forgot to write: they look like all others, and the next sync reports success. So they are copied
 * into the file, which is synced.
 */
function settleAll(database: DatabaseSync, path: string): void {
  const { busy } = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() ?? {};
  if (busy !== 0)
    throw new StoreFault({
      code: "STORE_UNAVAILABLE",
      message: `The disk under the store ${path} failed, and another process is in the way of making sure of what it holds.`,
      fix: "Try again; if it lasts, end the process that holds the file.",
    });
}

/** The same for the log of a process that may have died of such a disk; without waiting for live processes, which do it themselves. */
function settleSome(database: DatabaseSync): void {
  database.exec("PRAGMA wal_checkpoint(PASSIVE)");
}

/** The version of a store's tables; 0 for an empty file. */
function versionOf(database: DatabaseSync, path: string): number {
  // In this order a file that another process makes a store of meanwhile is never taken for that of another program: all three appear in one commit.
  const hasNoTables = isWithoutTables(database);
  const version = pragma(database, "user_version");
  const application = pragma(database, "application_id");
  const isEmpty = application === 0 && version === 0 && hasNoTables;
  if (!isEmpty && application !== applicationId)
    throw new StoreFault({
      code: "STORE_CORRUPT",
      message: `The file ${path} is a database of another program.`,
      fix: "Name another file for the store.",
    });
  if (version > schemaVersion)
    throw new StoreFault({
      code: "STORE_TOO_NEW",
      message: `The store ${path} has version ${version}; this build knows versions up to ${schemaVersion}.`,
      fix: `Upgrade Loopwright, or name another file. ${path} was not changed.`,
    });
  return version;
}

function isWithoutTables(database: DatabaseSync): boolean {
  return database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined;
}

function openForReading({ path, busyTimeoutMs }: WorkerOptions): OpenedDatabase {
  const isLeft = isLogLeft(path);
  const database = new DatabaseSync(locationForReading(path, isLeft), { readOnly: true });
  try {
    database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    // The index of the log is in memory then, not in a file that would have to be made.
    if (isLeft) database.exec("PRAGMA locking_mode = EXCLUSIVE");
    checkReadable(database, path);
    return { database, isReadOnly: true, ...(isLeft ? { isExclusive: true } : {}) };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** True when a write-ahead log lies there and the index that processes share does not: no process uses the file, and this one has no right to make the index. */
function isLogLeft(path: string): boolean {
  return process.platform !== "win32" && hasLog(path) && !existsSync(`${path}-shm`);
}

/** Makes an older file look like one of this version, where that can be done without a write. */
function checkReadable(database: DatabaseSync, path: string): void {
  const version = versionOf(database, path);
  for (const { before, sql } of standIns) if (version < before) database.exec(sql);
  if (version >= readableVersion) return;
  throw new StoreFault({
    code: "STORE_READ_ONLY",
    message: `The store ${path} has version ${version} and cannot be written, so it cannot be brought to version ${schemaVersion}.`,
  });
}

/**
 * The options of the engine where it cannot write: a file without a write-ahead log does not change; one with a log that was left behind needs
 * no locks, which cannot be taken on a file that is open for reading only.
 */
function locationForReading(path: string, isLeft: boolean): string | URL {
  if (hasLog(path) && !isLeft) return path;
  const location = pathToFileURL(path);
  if (isLeft) location.searchParams.set("vfs", "unix-none");
  else location.searchParams.set("immutable", "1");
  return location;
}

function pragma(database: DatabaseSync, name: string): number {
  return Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
}
