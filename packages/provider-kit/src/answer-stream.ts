/** An answer that is asked for with the first read. `open` sends the request and gives the items; it is called once. */
export class AnswerStream<Item> implements AsyncIterableIterator<Item, undefined> {
  #open: (() => Promise<AsyncIterator<Item, undefined>>) | undefined;
  #items: AsyncIterator<Item, undefined> | undefined;

  constructor(open: () => Promise<AsyncIterator<Item, undefined>>) {
    this.#open = open;
  }

  /** Once open, the items' own promise and none of ours around it. */
  next(): Promise<IteratorResult<Item, undefined>> {
    return this.#items ? this.#items.next() : this.#start();
  }

  async return(): Promise<IteratorResult<Item, undefined>> {
    this.#open = undefined;
    await this.#items?.return?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #start(): Promise<IteratorResult<Item, undefined>> {
    const open = this.#open;
    this.#open = undefined;
    if (open === undefined) return { done: true, value: undefined };
    this.#items = await open();
    return await this.#items.next();
  }
}
