import type { Json, JsonObject, JsonSchema } from "@loopwright/core";

const closed = new WeakMap<JsonSchema, JsonSchema>();

/** The schema with `additionalProperties: false` on every object that leaves it open: the vendor demands it for structured output. @see https://platform.claude.com/docs/en/build-with-claude/structured-outputs (2026-11-21) */
export function closedSchema(schema: JsonSchema): JsonSchema {
  let made = closed.get(schema);
  if (!made) {
    made = closeObject(schema);
    closed.set(schema, made);
  }
  return made;
}

/** Words under which there are values, not schemas. */
const values: ReadonlySet<string> = new Set(["enum", "const", "default", "examples", "required"]);

function close(value: Json): Json {
  if (Array.isArray(value)) return value.map(close);
  return typeof value === "object" && value !== null ? closeObject(value as JsonObject) : value;
}

function closeObject(schema: JsonObject): JsonObject {
  const entries = Object.entries(schema).map(([key, value]): [string, Json] => [key, values.has(key) ? value : close(value)]);
  const isObject = schema["type"] === "object" && !("additionalProperties" in schema);
  return { ...Object.fromEntries(entries), ...(isObject ? { additionalProperties: false } : {}) };
}
