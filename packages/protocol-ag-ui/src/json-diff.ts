import type { Json, JsonObject } from "@loopwright/core/protocol";

/** One operation of a JSON Patch (RFC 6902). */
export type PatchOperation =
  | { readonly op: "add" | "replace"; readonly path: string; readonly value: Json }
  | { readonly op: "remove"; readonly path: string };

/** The patch that makes the one value the other. Lists of different lengths are compared item by item, the rest is added or removed at their ends. */
export function jsonDiff(before: Json, after: Json, path = ""): readonly PatchOperation[] {
  if (before === after) return [];
  if (Array.isArray(before) && Array.isArray(after)) return listDiff(before, after, path);
  if (isObject(before) && isObject(after)) return objectDiff(before, after, path);
  return [{ op: "replace", path, value: after }];
}

function objectDiff(before: JsonObject, after: JsonObject, path: string): readonly PatchOperation[] {
  const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key));
  return [
    ...removed.map((key) => ({ op: "remove", path: below(path, key) }) as const),
    ...Object.entries(after).flatMap(([key, value]) => {
      const known = Object.hasOwn(before, key) ? before[key] : undefined;
      if (value === undefined) return [];
      return known === undefined ? [{ op: "add", path: below(path, key), value } as const] : jsonDiff(known, value, below(path, key));
    }),
  ];
}

function listDiff(before: readonly Json[], after: readonly Json[], path: string): readonly PatchOperation[] {
  const common = Math.min(before.length, after.length);
  const changed = after.slice(0, common).flatMap((value, at) => jsonDiff(before[at] as Json, value, `${path}/${at}`));
  const added = after.slice(common).map((value, at) => ({ op: "add", path: `${path}/${common + at}`, value }) as const);
  // From the end, so that each index still names its item.
  const removed = before.slice(common).map((_, at) => ({ op: "remove", path: `${path}/${before.length - 1 - at}` }) as const);
  return [...changed, ...added, ...removed];
}

const below = (path: string, key: string): string => `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;

const isObject = (value: Json): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);
