import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";

const lockWaitMs = 25;
const lockWaitMsDefault = 5_000;

/**
 * Runs the work while no other process and no other caller of this one does the same under this path. The lock is one of the operating system, by SQLite: it ends
 * with the process that holds it, so it is never stale, and a process that was paused still holds it. Its file stays; removed, two could hold locks at once.
 * @throws Error when it is not free within `waitMs`; default: five seconds
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>, waitMs: number = lockWaitMsDefault): Promise<T> {
  closeSync(openSync(path, "a", 0o600));
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    await acquire(database, Math.ceil(waitMs / lockWaitMs));
    return await work();
  } finally {
    // Gives the lock back.
    database.close();
  }
}

async function acquire(database: DatabaseSync, triesMax: number): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return database.exec("BEGIN IMMEDIATE");
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (tries >= triesMax) throw new Error("Another process holds its lock.");
    }
    await wait(lockWaitMs);
  }
}

/** SQLITE_BUSY; its further bits give the kind. */
const busyCode = 5;
const isBusy = (error: unknown): boolean => error instanceof Error && "errcode" in error && (Number(error.errcode) & 0xff) === busyCode;
