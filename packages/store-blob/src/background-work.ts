/** Work in the background, until the store is closed. What fails is tried again when its time comes. */
export class BackgroundWork {
  readonly #running = new Set<Promise<unknown>>();

  add(work: Promise<unknown>): void {
    const done: Promise<unknown> = work.then(
      () => this.#running.delete(done),
      () => this.#running.delete(done),
    );
    this.#running.add(done);
  }

  /** Waits until nothing is under way. */
  async settle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
