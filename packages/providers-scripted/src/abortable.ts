import type { Clock } from "@loopwright/core/ports";

/** What the promise gives, or a rejection with the signal's reason as soon as it is aborted. */
export function abortable<T>(promise: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) {
      abort();
      return;
    }
    signal.addEventListener("abort", abort, { once: true });
    const leave = (): void => signal.removeEventListener("abort", abort);
    promise.then(
      (value) => {
        leave();
        resolve(value);
      },
      (error: unknown) => {
        leave();
        reject(error);
      },
    );
  });
}

/** Resolves after `ms` of this clock; rejects with the signal's reason on abort and leaves no timer behind. */
export async function pause(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  let cancel = (): void => {};
  const waited = new Promise<void>((resolve) => {
    cancel = clock.after(ms, resolve);
  });
  try {
    await abortable(waited, signal);
  } finally {
    cancel();
  }
}
