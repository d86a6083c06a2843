import type { SessionEvent } from "@loopwright/core/protocol";

/** What is told of a session while an input is on its way into the log: its run may speak before anybody knows its id. */
export interface EarlyEvents {
  /** The events of the run so far, once; `undefined` where something was being said already. Nothing is heard from then on. */
  take(runId: string): readonly SessionEvent[] | undefined;
  stop(): void;
}

/** Early events, as a feed fills them. `isWhole`: nothing was being said when it began. */
export class HeldEvents implements EarlyEvents {
  readonly #isWhole: boolean;
  readonly #leave: () => void;
  readonly #heard: { readonly events: readonly SessionEvent[]; readonly runId: string | undefined }[] = [];
  #isOver = false;

  constructor(isWhole: boolean, leave: () => void) {
    this.#isWhole = isWhole;
    this.#leave = leave;
  }

  /** The array is the caller's: it is copied. */
  add(events: readonly SessionEvent[], runId: string | undefined): void {
    this.#heard.push({ events: [...events], runId });
  }

  take(runId: string): readonly SessionEvent[] | undefined {
    if (this.#isOver) return undefined;
    this.stop();
    return this.#isWhole ? this.#heard.flatMap((one) => (one.runId === runId ? one.events : [])) : undefined;
  }

  stop(): void {
    this.#isOver = true;
    this.#leave();
  }
}
