/** A value or a promise of it: the result of a step that may call user code, and is synchronous without it. */
export type SyncOrAsync<T> = T | Promise<T>;

/** `next` of the value: called at once if it is no promise, or else when the promise resolves. */
export function andThen<T, U>(value: SyncOrAsync<T>, next: (value: T) => SyncOrAsync<U>): SyncOrAsync<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
