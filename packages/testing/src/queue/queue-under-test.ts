import { type RunQueue, type RunQueueWorker, refKey } from "@loopwright/core/ports";
import { expectSame } from "../kit/kit.ts";
import { expectSoon } from "../kit/store-expectation.ts";

/** A fresh, empty queue. */
export interface QueueUnderTest {
  readonly queue: RunQueue;
  /** The same queue as another node sees it. Capability `nodes`. */
  readonly other?: RunQueue;
  /** How long hints may take. Default 2 s. */
  readonly patienceMs?: number;
}

/** A worker that records the hints it gets, and holds each until the test releases it. */
export class Taker {
  readonly taken: string[] = [];
  mostAtOnce = 0;
  readonly worker: RunQueueWorker;
  readonly #patienceMs: number;
  readonly #held: (() => void)[] = [];
  #isHolding: boolean;
  #atOnce = 0;

  constructor(
    { queue, patienceMs = 2_000 }: Pick<QueueUnderTest, "queue" | "patienceMs">,
    {
      concurrency = 4,
      holds = false,
      fails = false,
      onTake,
    }: { readonly concurrency?: number; readonly holds?: boolean; readonly fails?: boolean; readonly onTake?: () => Promise<void> } = {},
  ) {
    this.#patienceMs = patienceMs;
    this.#isHolding = holds;
    this.worker = queue.work(
      async (ref) => {
        this.taken.push(refKey(ref));
        this.mostAtOnce = Math.max(this.mostAtOnce, ++this.#atOnce);
        await onTake?.();
        if (this.#isHolding) await new Promise<void>((resolve) => this.#held.push(resolve));
        this.#atOnce--;
        if (fails) throw new Error("The worker failed.");
      },
      { concurrency },
    );
  }

  /** Waits until so many hints were handed to it. */
  async takes(count: number): Promise<void> {
    await expectSoon(() => this.taken.length >= count, {
      what: `the worker takes ${count} hints; it has ${this.taken.length}`,
      withinMs: this.#patienceMs,
    });
  }

  /** Waits for as many as are named, and that they are these, in any order. */
  async takesExactly(sessions: readonly string[], before: readonly string[] = []): Promise<void> {
    await this.takes(sessions.length + before.length);
    expectSame([...this.taken].sort(), [...sessions, ...before].sort(), "what the worker was handed");
  }

  /** Lets go of what it holds, and holds nothing more. */
  letGo(): void {
    this.#isHolding = false;
    for (const resolve of this.#held.splice(0)) resolve();
  }
}
