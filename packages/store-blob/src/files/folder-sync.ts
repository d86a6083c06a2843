import type { FileCalls } from "./file-calls.ts";

/** Puts the names of folders on the disk: one sync for all callers that came while the one before was under way. */
export class FolderSync {
  readonly #files: FileCalls;
  readonly #running = new Map<string, Promise<void>>();
  readonly #next = new Map<string, Promise<void>>();

  constructor(files: FileCalls) {
    this.#files = files;
  }

  /** Resolves when the names that the folder has now are on the disk. */
  sync(folder: string): Promise<void> {
    const running = this.#running.get(folder);
    if (!running) return this.#start(folder);
    // That one may have begun too early for our name.
    const next = this.#next.get(folder);
    if (next) return next;
    const done = running
      .catch(() => undefined)
      .then(() => {
        this.#next.delete(folder);
        return this.#start(folder);
      });
    this.#next.set(folder, done);
    return done;
  }

  #start(folder: string): Promise<void> {
    const done = this.#files.syncFolder(folder).finally(() => this.#running.delete(folder));
    this.#running.set(folder, done);
    return done;
  }
}
