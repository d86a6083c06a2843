/**
 * A list that only grows, shared by all versions of the state: a version is a length. Appending to the newest version
 * writes in place; appending to an older one (a speculation was dropped) forks, sharing every full chunk. No version ever sees
 * what another appended.
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

/** The version one longer. Constant cost, but for a fork, which copies at most one chunk and the list of chunks. */
export function append<T>(list: AppendList<T>, item: T): AppendList<T> {
  const at = list.length >> chunkBits;
  const within = list.length & (chunkSize - 1);
  // The empty list is shared by all new lists: nothing may be written into it.
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

/** The same items in a list of its own: what is appended to it costs the others nothing. Copies one chunk and the list of chunks. */
export function forked<T>({ length, chunks }: AppendList<T>): AppendList<T> {
  const last = length >> chunkBits;
  const rest = chunks[last]?.slice(0, length & (chunkSize - 1)) ?? [];
  return { length, chunks: [...chunks.slice(0, last), ...(rest.length > 0 ? [rest] : [])] };
}

/** The items of a version from a place on, oldest first. */
export function itemsFrom<T>(list: AppendList<T>, from: number): readonly T[] {
  const first = from >> chunkBits;
  const items = list.chunks.slice(first).flat();
  return items.slice(from - (first << chunkBits), list.length - (first << chunkBits));
}

/** Puts another item with the same keys in each place from `from` on. Writes in place: only for a list whose other versions are not used. */
export function replaceFrom<T>(list: AppendList<T>, from: number, change: (item: T) => T): void {
  for (let index = from; index < list.length; index++) {
    const chunk = list.chunks[index >> chunkBits] as T[];
    const within = index & (chunkSize - 1);
    chunk[within] = change(chunk[within] as T);
  }
}

/** The item at a place; `undefined` outside the version. */
export function at<T>(list: AppendList<T>, index: number): T | undefined {
  if (index < 0 || index >= list.length) return undefined;
  return list.chunks[index >> chunkBits]?.[index & (chunkSize - 1)];
}

/** The place of the last item that fits, or -1. Linear from the end. */
export function findLastIndex<T>(list: AppendList<T>, fits: (item: T) => boolean): number {
  for (let index = list.length - 1; index >= 0; index--) {
    const item = at(list, index);
    if (item !== undefined && fits(item)) return index;
  }
  return -1;
}

/** Key of an item; `undefined`: it has none. One function per kind of key: places are kept by it. */
export type KeyOf<T> = (item: T) => string | undefined;

interface Places {
  readonly byKey: Map<string, number>;
  length: number;
}

/** Places by key of the lists that share these chunks; forgotten with them. */
const indexes = new WeakMap<object, Map<unknown, Places>>();

/** The last item with the key. Constant cost, but for the first question after a fork, and where versions hold the key at different places. */
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
