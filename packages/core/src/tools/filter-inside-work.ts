/*
 * Owns: running work that needs filtered texts while it runs. Does not own: the filters, and which text they see.
 * The work is a generator: it yields a text and receives the filtered text, so the same code serves synchronous and asynchronous filters.
 */
import type { Json } from "../message/json.ts";

/** Work that yields texts, and receives the texts to show in their place. */
export type Filtering<T> = Generator<string, T, string>;

/** Returns the text to show. */
export type ApplyFilter = (text: string) => string | Promise<string>;

/** Runs the work and returns its result: a promise only if the filter returned one. An error of the filter is thrown, or rejects that promise. */
export function runFiltering<T>(work: Filtering<T>, apply: ApplyFilter): T | Promise<T> {
  let step = work.next();
  while (!step.done) {
    const shown = apply(step.value);
    if (typeof shown !== "string") return runLater(work, shown, apply);
    step = work.next(shown);
  }
  return step.value;
}

async function runLater<T>(work: Filtering<T>, first: Promise<string>, apply: ApplyFilter): Promise<T> {
  let step = work.next(await first);
  while (!step.done) step = work.next(await apply(step.value));
  return step.value;
}

/** A copy of the value in which each string, names of members included, is replaced by its filtered text. */
export function* filterStrings(value: Json, part: (text: string) => Filtering<string> = whole): Filtering<Json> {
  if (typeof value === "string") return yield* part(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items: Json[] = [];
    for (const item of value as readonly Json[]) items.push(yield* filterStrings(item, part));
    return items;
  }
  const members: [string, Json][] = [];
  for (const [name, member] of Object.entries(value)) members.push([yield* part(name), yield* filterStrings(member, part)]);
  return Object.fromEntries(members);
}

function* whole(text: string): Filtering<string> {
  return yield text;
}
