import type { Clock } from "@loopwright/core/ports";

interface PauseOptions {
  readonly clock: Pick<Clock, "after">;
  readonly signal: AbortSignal;
}

/** Resolves after `ms`. Rejects with the reason of the signal when that comes first. */
export function pauseUntil(ms: number, { clock, signal }: PauseOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      cancel();
      reject(signal.reason);
    };
    const cancel = clock.after(ms, () => {
      signal.removeEventListener("abort", stop);
      resolve();
    });
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
