/**
 * A signal for one call, which follows the given one until it is released. The given one may live as long as a session: SDKs leave their listeners on
 * the signal that they are passed.
 */
export class CallSignal {
  readonly #given: AbortSignal;
  readonly #controller = new AbortController();
  readonly #follow = (): void => this.#controller.abort(this.#given.reason);

  constructor(given: AbortSignal) {
    this.#given = given;
    if (given.aborted) this.#follow();
    else given.addEventListener("abort", this.#follow, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The call is complete; what is left of its connection may be used again. */
  release(): void {
    this.#given.removeEventListener("abort", this.#follow);
  }

  /** Closes the connection of a call that is left early. */
  abort(): void {
    this.release();
    this.#controller.abort();
  }
}
