/*
 * Owns: the chunks of a snapshot. A chunk is a text with items of those lists of a state that only grow. It is written once, and named by its digest.
 * Why a text: it always has the same digest, while a store may return the members of an object in another order.
 */
import { type GrowingName, type Growth, growingNames, type Lengths, noLengths } from "../../loop/split-state-for-snapshot.ts";
import { digestOf } from "../../message/digest.ts";
import type { Deps } from "../setup/session-deps.ts";
import { fitsLog, restore, spill } from "./spill-large-values.ts";

/** The most characters of one chunk; a single item may have more. A snapshot value may have 1 MB. */
const chunkCharacters = 256 * 1024;
/** How many chunks are read in parallel. */
const readsAtOnce = 16;

type SnapshotDeps = Pick<Deps, "store" | "ref">;

/** The name of a chunk. It contains the digest, so two different contents never have the same name. */
export const chunkName = (index: number, digest: string): string => `fold.${index}.${digest}`;

/** Writes the new items in chunks and returns their digests. `first`: the number of the first chunk. Large values become blobs, as in the log. */
export async function writeChunks({ store, ref }: SnapshotDeps, growth: Growth, first: number): Promise<readonly string[]> {
  const digests: string[] = [];
  let texts: Partial<Record<GrowingName, string[]>> = {};
  let characters = 0;
  const flush = async (): Promise<void> => {
    const text = `{${Object.entries(texts).map(([name, items]) => `"${name}":[${items.join()}]`)}}`;
    const digest = digestOf(text);
    await store.snapshots.put(ref, chunkName(first + digests.length, digest), text);
    digests.push(digest);
    texts = {};
    characters = 0;
  };
  for (const name of growingNames) {
    for (const item of growth[name]) {
      const text = JSON.stringify(fitsLog(item) ? item : await spill(item, store.blobs, ref));
      if (characters > 0 && characters + text.length > chunkCharacters) await flush();
      characters += text.length;
      const items = texts[name] ?? [];
      texts[name] = items;
      items.push(text);
    }
  }
  if (characters > 0) await flush();
  return digests;
}

/** The content of the chunks, in order; a text with the problem if one is missing or invalid. @throws AgentError STORE_*, BLOB_NOT_FOUND */
export async function readChunks(deps: SnapshotDeps, digests: readonly string[]): Promise<readonly Partial<Growth>[] | string> {
  const growths: Partial<Growth>[] = [];
  for (let from = 0; from < digests.length; from += readsAtOnce) {
    const some = digests.slice(from, from + readsAtOnce);
    for (const growth of await Promise.all(some.map((digest, i) => readChunk(deps, from + i, digest)))) {
      if (typeof growth === "string") return growth;
      growths.push(growth);
    }
  }
  return growths;
}

async function readChunk({ store, ref }: SnapshotDeps, index: number, digest: string): Promise<Partial<Growth> | string> {
  const text = await store.snapshots.get(ref, chunkName(index, digest));
  if (text === undefined) return `chunk ${index} is missing`;
  if (typeof text !== "string" || digestOf(text) !== digest) return `chunk ${index} does not match its digest`;
  const growth = JSON.parse(text) as Partial<Growth>;
  const whole = await Promise.all(
    Object.entries(growth).map(async ([name, items]) => [name, await restore<object>(items, store.blobs, ref)]),
  );
  return Object.fromEntries(whole) as Partial<Growth>;
}

/** The lengths of the lists of all chunks together. */
export function lengthsOfAll(growths: readonly Partial<Growth>[]): Lengths {
  return growths.reduce<Lengths>((sum, growth) => {
    const add = (name: GrowingName): number => sum[name] + (growth[name]?.length ?? 0);
    return { history: add("history"), known: add("known"), ended: add("ended"), decisions: add("decisions") };
  }, noLengths);
}

/** True if each list of `a` is at most as long as the same list of `b`. */
export const fitWithin = (a: Lengths, b: Lengths): boolean => growingNames.every((name) => a[name] <= b[name]);
