/**
 * A list that only grows, shared by all versions of the state: a version is a length. An append to the newest version writes in place; an append to an
 * older one (after a pending batch was dropped) makes a fork, which shares every full chunk. No version ever sees the items that another one appended.
 */
export interface AppendList<T> {
  readonly length: number;
  readonly chunks: readonly (readonly T[])[];
}

const chunkBits = 8;
const chunkSize = 1 << chunkBits;

export function emptyList<T>(): AppendList<T> {
  return { length: 0, chunks: [] };
}

/** The version with one more item. Constant cost, except for a fork, which copies at most one chunk and the list of chunks. */
export function append<T>(list: AppendList<T>, item: T): AppendList<T> {
  const at = list.length >> chunkBits;
  const within = list.length & (chunkSize - 1);
  // The empty list is shared by all new lists, so nothing may be written into it.
  let chunks = list.length === 0 ? [] : (list.chunks as T[][]);
  const isNewest = within === 0 ? chunks.length === at : chunks.length === at + 1 && chunks[at]?.length === within;
  if (!isNewest) {
    const shared = chunks[at];
    chunks = chunks.slice(0, at);
    if (within > 0 && shared) chunks.push(shared.slice(0, within));
  }
  const chunk = chunks[at];
  if (chunk) chunk.push(item);
  else chunks.push([item]);
  return { length: list.length + 1, chunks };
}

/** The same items in a separate list, so that appends to it do not fork the others. Copies one chunk and the list of chunks. */
export function forked<T>({ length, chunks }: AppendList<T>): AppendList<T> {
  const last = length >> chunkBits;
  const rest = chunks[last]?.slice(0, length & (chunkSize - 1)) ?? [];
  return { length, chunks: [...chunks.slice(0, last), ...(rest.length > 0 ? [rest] : [])] };
}

/** The items of a version from an index on, oldest first. */
export function itemsFrom<T>(list: AppendList<T>, from: number): readonly T[] {
  const first = from >> chunkBits;
  const items = list.chunks.slice(first).flat();
  return items.slice(from - (first << chunkBits), list.length - (first << chunkBits));
}

/** Replaces each item from `from` on by one with the same keys. Writes in place: only for a list whose other versions are not used. */
export function replaceFrom<T>(list: AppendList<T>, from: number, change: (item: T) => T): void {
  for (let index = from; index < list.length; index++) {
    const chunk = list.chunks[index >> chunkBits] as T[];
    const within = index & (chunkSize - 1);
    chunk[within] = change(chunk[within] as T);
  }
}

/** The item at an index; `undefined` outside the version. */
export function at<T>(list: AppendList<T>, index: number): T | undefined {
  if (index < 0 || index >= list.length) return undefined;
  return list.chunks[index >> chunkBits]?.[index & (chunkSize - 1)];
}

/** The index of the last item that fits, or -1. Linear from the end. */
export function findLastIndex<T>(list: AppendList<T>, fits: (item: T) => boolean): number {
  for (let index = list.length - 1; index >= 0; index--) {
    const item = at(list, index);
    if (item !== undefined && fits(item)) return index;
  }
  return -1;
}

/** The key of an item; `undefined`: it has none. Each kind of key must have one function, because the indices are cached by that function. */
export type KeyOf<T> = (item: T) => string | undefined;

interface Places {
  readonly byKey: Map<string, number>;
  length: number;
}

/** The indices by key for the lists that share these chunks; collected together with them. */
const indexes = new WeakMap<object, Map<unknown, Places>>();

/** The last item with the key. Constant cost, except for the first search after a fork, and for a key that versions have at different indices. */
export function lastWithKey<T>(list: AppendList<T>, key: string, keyOf: KeyOf<T>): T | undefined {
  const places = placesOf(list, keyOf);
  for (; places.length < list.length; places.length++) {
    const item = at(list, places.length);
    const own = item === undefined ? undefined : keyOf(item);
    if (own !== undefined) places.byKey.set(own, places.length);
  }
  const place = places.byKey.get(key);
  if (place === undefined) return undefined;
  const item = at(list, place);
  if (item !== undefined && keyOf(item) === key) return item;
  return at(
    list,
    findLastIndex(list, (one) => keyOf(one) === key),
  );
}

function placesOf<T>({ chunks }: AppendList<T>, keyOf: KeyOf<T>): Places {
  const byKind = indexes.get(chunks) ?? new Map<unknown, Places>();
  indexes.set(chunks, byKind);
  const places = byKind.get(keyOf) ?? { byKey: new Map<string, number>(), length: 0 };
  byKind.set(keyOf, places);
  return places;
}
