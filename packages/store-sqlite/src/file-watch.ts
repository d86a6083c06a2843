import { closeSync, openSync, readSync, statSync } from "node:fs";
import type { Fault } from "./operation.ts";

/** Which file was opened, and how long it was when it was looked at last. */
interface Seen {
  readonly device: number;
  readonly node: number;
  readonly sizeBytes: number;
}

const headerBytes = 100;

/**
 * Sees when the file of a store is taken away, replaced or cut under the process that has it open: the engine itself continues with what it holds,
 * and what it acknowledges then is lost. A look is one call of the system.
 */
export class FileWatch {
  readonly #path: string;
  #seen: Seen | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** The file that was just opened. One that was opened before has to be the same. */
  opened(): void {
    this.#seen ??= this.#look();
  }

  /** What is wrong with the file now; `undefined` where it is the one that was opened. Mended it is used again. */
  fault(): Fault | undefined {
    const seen = this.#seen;
    if (!seen) return undefined;
    const found = this.#look();
    if (!found) return removed(this.#path);
    if (found.device !== seen.device || found.node !== seen.node) return replaced(this.#path);
    // The engine makes its file longer, never shorter; a compaction from outside leaves a header that fits.
    if (found.sizeBytes < seen.sizeBytes && this.#headerSizeBytes() > found.sizeBytes) return cut(this.#path, found.sizeBytes);
    this.#seen = found;
    return undefined;
  }

  #look(): Seen | undefined {
    const stat = statSync(this.#path, { throwIfNoEntry: false });
    return stat && { device: stat.dev, node: stat.ino, sizeBytes: stat.size };
  }

  /** How long the file has to be by its own account; more than any file where there is none. @see https://www.sqlite.org/fileformat2.html (2026-11-22) */
  #headerSizeBytes(): number {
    const header = Buffer.alloc(headerBytes);
    const file = openSync(this.#path, "r");
    try {
      if (readSync(file, header, 0, headerBytes, 0) < headerBytes) return Number.POSITIVE_INFINITY;
    } finally {
      closeSync(file);
    }
    const pageBytes = header.readUInt16BE(16);
    return header.readUInt32BE(28) * (pageBytes === 1 ? 65_536 : pageBytes);
  }
}

function removed(path: string): Fault {
  return {
    code: "STORE_UNAVAILABLE",
    message: `The store ${path} was removed or moved under the process that uses it.`,
    fix: `Put the same file back: it is used again at once. To begin with an empty store start the processes of ${path} anew.`,
  };
}

function replaced(path: string): Fault {
  return {
    code: "STORE_ROLLED_BACK",
    message: `The store ${path} was replaced by another file under the process that uses it.`,
    fix: `Put the previous file back. To continue with the new one, which may lack recorded work, restart all processes that use ${path}.`,
  };
}

function cut(path: string, sizeBytes: number): Fault {
  return {
    code: "STORE_CORRUPT",
    message: `The store ${path} was cut to ${sizeBytes} bytes under the process that uses it.`,
    fix: `End the processes of ${path}, and restore it from a backup.`,
  };
}
