/*
 * Owns: what only grows of a state, as texts that are written once: their names, their digests, how they are made and read.
 * Why texts: their digest is of what was written to the letter, whatever a store makes of the members of an object.
 */
import { type GrowingName, type Growth, growingNames, type Lengths, noLengths } from "../../loop/state-image.ts";
import { digestOf } from "../../message/digest.ts";
import type { Deps } from "../setup/deps.ts";
import { dehydrate, fitsLog, hydrate } from "./payload.ts";

/** Characters of one chunk, unless a single item has more: a draft takes 1 MB. */
const chunkCharacters = 256 * 1024;
/** Chunks that are read at once. */
const readsAtOnce = 16;

type Shelf = Pick<Deps, "store" | "ref">;

/** The draft of a chunk: no other content ever has this name. */
export const chunkName = (place: number, digest: string): string => `fold.${place}.${digest}`;

/** Writes what is new behind so many chunks; gives their digests. Large payloads go where the log has put them already. */
export async function writeChunks({ store, ref }: Shelf, growth: Growth, first: number): Promise<readonly string[]> {
  const digests: string[] = [];
  let texts: Partial<Record<GrowingName, string[]>> = {};
  let characters = 0;
  const flush = async (): Promise<void> => {
    const text = `{${Object.entries(texts).map(([name, items]) => `"${name}":[${items.join()}]`)}}`;
    const digest = digestOf(text);
    await store.drafts.put(ref, chunkName(first + digests.length, digest), text);
    digests.push(digest);
    texts = {};
    characters = 0;
  };
  for (const name of growingNames) {
    for (const item of growth[name]) {
      const text = JSON.stringify(fitsLog(item) ? item : await dehydrate(item, store.blobs, ref));
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

/** What the chunks hold, in their order; a sentence where one is missing or is not what was written. @throws AgentError STORE_*, BLOB_NOT_FOUND */
export async function readChunks(shelf: Shelf, digests: readonly string[]): Promise<readonly Partial<Growth>[] | string> {
  const growths: Partial<Growth>[] = [];
  for (let from = 0; from < digests.length; from += readsAtOnce) {
    const some = digests.slice(from, from + readsAtOnce);
    for (const growth of await Promise.all(some.map((digest, i) => readChunk(shelf, from + i, digest)))) {
      if (typeof growth === "string") return growth;
      growths.push(growth);
    }
  }
  return growths;
}

async function readChunk({ store, ref }: Shelf, place: number, digest: string): Promise<Partial<Growth> | string> {
  const text = await store.drafts.get(ref, chunkName(place, digest));
  if (text === undefined) return `chunk ${place} is missing`;
  if (typeof text !== "string" || digestOf(text) !== digest) return `chunk ${place} is not what was written`;
  const growth = JSON.parse(text) as Partial<Growth>;
  const whole = await Promise.all(
    Object.entries(growth).map(async ([name, items]) => [name, await hydrate<object>(items, store.blobs, ref)]),
  );
  return Object.fromEntries(whole) as Partial<Growth>;
}

/** How long the lists are that the chunks make together. */
export function lengthsOfAll(growths: readonly Partial<Growth>[]): Lengths {
  return growths.reduce<Lengths>((sum, growth) => {
    const add = (name: GrowingName): number => sum[name] + (growth[name]?.length ?? 0);
    return { history: add("history"), known: add("known"), ended: add("ended"), decisions: add("decisions") };
  }, noLengths);
}

/** Whether no list of `a` is longer than that of `b`. */
export const fitWithin = (a: Lengths, b: Lengths): boolean => growingNames.every((name) => a[name] <= b[name]);
