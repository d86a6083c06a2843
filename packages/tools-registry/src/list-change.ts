import type { Json, JsonObject } from "@loopwright/core";

/** How the list of a session differs from the list that it begins with. */
export interface ListChange {
  /** Names in the list beyond those, in the order in which they came. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Nothing of the first list is left. */
  readonly isCleared: boolean;
}

/** One change of the list: one kind with the names it is about; `clear` has none. */
export interface ListStep {
  readonly kind: "register" | "unregister" | "clear";
  readonly names: readonly string[];
}

const noChange: ListChange = { added: [], removed: [], isCleared: false };

/** The change with one more step. */
export function afterStep({ added, removed, isCleared }: ListChange, { kind, names }: ListStep): ListChange {
  if (kind === "clear") return { added: [], removed: [], isCleared: true };
  const without = (list: readonly string[]): readonly string[] => list.filter((name) => !names.includes(name));
  return kind === "register"
    ? { added: [...without(added), ...names], removed: without(removed), isCleared }
    : { added: without(added), removed: isCleared ? [] : [...without(removed), ...names], isCleared };
}

/** The names of the list. */
export function changedList(first: readonly string[], { added, removed, isCleared }: ListChange): ReadonlySet<string> {
  return new Set([...(isCleared ? [] : first.filter((name) => !removed.includes(name))), ...added]);
}

const namesOf = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter((name): name is string => typeof name === "string") : [];

const objectOf = (value: Json | undefined): JsonObject | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;

/** The change as JSON. */
export const changeToJson = (change: ListChange): JsonObject => ({ ...change });

/** The change that JSON holds. */
export function changeFromJson(value: Json | undefined): ListChange {
  const kept = objectOf(value);
  return kept ? { added: namesOf(kept["added"]), removed: namesOf(kept["removed"]), isCleared: kept["isCleared"] === true } : noChange;
}

/** The steps that JSON holds. */
export function stepsFromJson(value: Json | undefined): readonly ListStep[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((one: Json): readonly ListStep[] => {
    const kind = objectOf(one)?.["kind"];
    return kind === "register" || kind === "unregister" || kind === "clear" ? [{ kind, names: namesOf(objectOf(one)?.["names"]) }] : [];
  });
}
