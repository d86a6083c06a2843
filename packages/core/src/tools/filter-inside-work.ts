/*
 * Owns: work that needs a filter's answer in its middle, where the answer may take its time. Does not own: the filters, and which text they see.
 * Such work is a generator that yields each text and is given what is shown instead: one code for filters that answer at once and those that do not.
 */
import type { Json } from "../message/json.ts";

/** Yields texts, and is given what is to be shown in their place. */
export type Filtering<T> = Generator<string, T, string>;

/** A text as it may be shown: at once, or later. */
export type ApplyFilter = (text: string) => string | Promise<string>;

/** What the work gives: at once as long as the filter answers at once. Throws, or rejects with, what the filter throws. */
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

/** A copy of the value with each of its strings, names of members among them, as the filter shows them. */
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
