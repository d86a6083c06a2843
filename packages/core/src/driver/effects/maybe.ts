/** A value, or a promise of it: what asks user code, and needs no waiting where there is none. */
export type Maybe<T> = T | Promise<T>;

/** What follows from the value: at once where it is there, else when it comes. */
export function follow<T, U>(value: Maybe<T>, next: (value: T) => Maybe<U>): Maybe<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
