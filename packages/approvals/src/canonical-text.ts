import type { Json } from "@loopwright/core";

/** JSON text in which equal values are equal, whatever the order of their members. */
export function canonicalText(value: Json): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
