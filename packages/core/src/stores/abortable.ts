/** Settles like the promise, but rejects with the signal's reason as soon as the signal is aborted. */
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

/** The result of the call, unless the signal is aborted: then the call is not made, or its result is dropped. Rejects with the signal's reason. */
export async function unlessAborted<T>(signal: AbortSignal | undefined, ask: () => Promise<T>): Promise<T> {
  if (!signal) return ask();
  signal.throwIfAborted();
  return abortable(ask(), signal);
}
