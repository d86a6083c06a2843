/** Any value that survives `JSON.parse(JSON.stringify(value))` unchanged. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. Keys `__proto__`, `constructor` and `prototype` are refused in all data from outside. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/** A JSON Schema document (draft 2020-12 unless `$schema` names another). */
export type JsonSchema = JsonObject;

/** Deepest nesting that a value may have anywhere in a log: `JSON.stringify` throws from about 5,000, attackers send 10,000. */
export const jsonDepthMax = 64;

const forbiddenKeys: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** Why a value from outside cannot become part of a log. */
export type JsonFlaw = "too_deep" | "forbidden_key" | "not_json";

/** Finds the first flaw of a value from outside, without recursion deeper than the limit. Visits each node once and reads no text. */
export function findJsonFlaw(value: unknown, depth = 0): JsonFlaw | undefined {
  if (value === null || typeof value === "string" || typeof value === "boolean") return undefined;
  if (typeof value === "number") return Number.isFinite(value) ? undefined : "not_json";
  if (typeof value !== "object") return "not_json";
  if (depth >= jsonDepthMax) return "too_deep";
  if (Array.isArray(value)) {
    for (const item of value) {
      const flaw = findJsonFlaw(item, depth + 1);
      if (flaw) return flaw;
    }
    return undefined;
  }
  for (const key of Object.keys(value)) {
    if (forbiddenKeys.has(key)) return "forbidden_key";
    const member: unknown = (value as Record<string, unknown>)[key];
    const flaw = member === undefined ? undefined : findJsonFlaw(member, depth + 1);
    if (flaw) return flaw;
  }
  return undefined;
}
