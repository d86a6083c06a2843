/** A value or a promise of the value: the result of a step that is synchronous unless it calls user code. */
export type SyncOrAsync<T> = T | Promise<T>;

/** Calls `next` with the value: at once, or when the promise of the value resolves. */
export function andThen<T, U>(value: SyncOrAsync<T>, next: (value: T) => SyncOrAsync<U>): SyncOrAsync<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
