import type { Fault } from "./operation.ts";

/** A fault on its way to the caller of a store; only inside the worker. */
export class StoreFault extends Error {
  readonly fault: Fault;

  constructor(fault: Fault, cause?: unknown) {
    super(fault.message, { cause });
    this.fault = fault;
  }
}

/** Result codes of SQLite. @see https://www.sqlite.org/rescode.html (2026-11-21) */
const sqlite = { perm: 3, busy: 5, locked: 6, readOnly: 8, ioError: 10, corrupt: 11, full: 13, cannotOpen: 14, notADatabase: 26 } as const;
const ioErrorShmSize = 4_874;

/** The primary result code of an error of the engine; `undefined` for any other error. */
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return undefined;
  // The file that holds the index of the write-ahead log could not grow.
  return error.errcode === ioErrorShmSize ? sqlite.full : error.errcode & 0xff;
}

/** True when another process holds the file for longer than the time allowed. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === sqlite.busy || code === sqlite.locked;
}

/** True when the engine does not know whether its write reached the disk. */
export function isIoError(error: unknown): boolean {
  return resultCode(error) === sqlite.ioError;
}

/** True when there was no space for what the engine wanted to write. */
export function isFull(error: unknown): boolean {
  return resultCode(error) === sqlite.full;
}

/** True when the file may not be opened in this way, or cannot be written. */
export function isReadOnly(error: unknown): boolean {
  const code = resultCode(error);
  return code === sqlite.readOnly || code === sqlite.cannotOpen || code === sqlite.perm;
}

/**
 * True when an error concerns the data of one session: its facts, its projection, or the pages that they lie on. A loop over sessions then
 * continues with the others.
 */
export function isOfOneSession(error: unknown): boolean {
  if (error instanceof StoreFault) return error.fault.code === "SESSION_CORRUPT" || error.fault.code === "STORE_CORRUPT";
  return error instanceof SyntaxError || error instanceof TypeError || resultCode(error) === sqlite.corrupt;
}

/** The error for the caller: the path and what to do, no content. */
export function faultOf(error: unknown, path: string): Fault {
  if (error instanceof StoreFault) return error.fault;
  switch (resultCode(error)) {
    case sqlite.busy:
    case sqlite.locked:
      return {
        code: "STORE_UNAVAILABLE",
        message: `The store ${path} is locked by another process.`,
        fix: "Try again; if it lasts, end the process that holds the file.",
      };
    case sqlite.full:
      return {
        code: "STORE_FULL",
        message: `There is no space left for the store ${path}.`,
        fix: "Free some space on its disk, or raise `sizeMaxBytes`; nothing acknowledged is lost.",
      };
    case sqlite.readOnly:
    case sqlite.perm:
      return readOnlyFault(path);
    case sqlite.corrupt:
      return {
        code: "STORE_CORRUPT",
        message: `The store ${path} is damaged.`,
        fix: `Restore ${path} from a backup, or move it away to start anew.`,
      };
    case sqlite.notADatabase:
      return {
        code: "STORE_CORRUPT",
        message: `The file ${path} is not a store, or its beginning is damaged.`,
        fix: "Name another file, restore it from a backup, or move it away to start anew.",
      };
    case sqlite.cannotOpen:
      return {
        code: "STORE_UNAVAILABLE",
        message: `The store ${path} cannot be opened.`,
        fix: `Check the folder of ${path} and its permissions.`,
      };
    case sqlite.ioError:
      return diskFault(path);
    default:
      return fileFault(error, path);
  }
}

/** The disk answers with errors. */
export function diskFault(path: string): Fault {
  return {
    code: "STORE_UNAVAILABLE",
    message: `The disk under the store ${path} failed.`,
    fix: "Check the disk; nothing acknowledged is lost.",
  };
}

/** The store cannot be written. */
export function readOnlyFault(path: string): Fault {
  return {
    code: "STORE_READ_ONLY",
    message: `The store ${path} cannot be written.`,
    fix: `Check the permissions of ${path} and of its folder.`,
  };
}

/** Errors of the file system, from making the folder and the file. */
function fileFault(error: unknown, path: string): Fault {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  switch (code) {
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return readOnlyFault(path);
    case "ENOSPC":
    case "EDQUOT":
      return { code: "STORE_FULL", message: `There is no space left for the store ${path}.`, fix: "Free some space on its disk." };
    case "EIO":
      return diskFault(path);
    case "EISDIR":
      return { code: "STORE_UNAVAILABLE", message: `${path} is a folder, not a store.`, fix: "Name a file." };
    case "ENOTDIR":
    case "EEXIST":
    case "ENOENT":
      return {
        code: "STORE_UNAVAILABLE",
        message: `The folder of the store ${path} cannot be made.`,
        fix: "Name a file in a folder that can exist.",
      };
    default: {
      const name = error instanceof Error ? error.name : typeof error;
      return {
        code: "INTERNAL",
        message: `The store ${path} failed with an unexpected ${name}${typeof code === "string" ? ` (${code})` : ""}.`,
      };
    }
  }
}
