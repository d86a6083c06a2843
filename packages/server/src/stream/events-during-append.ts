import type { SessionEvent } from "@loopwright/core/protocol";

/** The events of a session while an input is being appended: its run may emit events before its id is known. */
export interface EarlyEvents {
  /** The events of the run so far, once; `undefined` if an answer was already being streamed at the beginning. Then stops. */
  take(runId: string): readonly SessionEvent[] | undefined;
  stop(): void;
}

/** Early events that a feed collects. `isWhole`: no answer was being streamed at its beginning. */
export class HeldEvents implements EarlyEvents {
  readonly #isWhole: boolean;
  readonly #leave: () => void;
  readonly #received: { readonly events: readonly SessionEvent[]; readonly runId: string | undefined }[] = [];
  #isOver = false;

  constructor(isWhole: boolean, leave: () => void) {
    this.#isWhole = isWhole;
    this.#leave = leave;
  }

  /** Copies the array, which belongs to the caller. */
  add(events: readonly SessionEvent[], runId: string | undefined): void {
    this.#received.push({ events: [...events], runId });
  }

  take(runId: string): readonly SessionEvent[] | undefined {
    if (this.#isOver) return undefined;
    this.stop();
    return this.#isWhole ? this.#received.flatMap((one) => (one.runId === runId ? one.events : [])) : undefined;
  }

  stop(): void {
    this.#isOver = true;
    this.#leave();
  }
}
