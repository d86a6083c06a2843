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

const flat = new WeakMap<JsonSchema, JsonSchema>();
const unions: readonly string[] = ["anyOf", "oneOf", "allOf"];

/**
 * The schema of a tool's arguments as the vendor takes it: an object at the root, without a union there ("input_schema does
 * not support oneOf, allOf, or anyOf at the top level"). The branches of a union become one object that admits all of them;
 * what the model then sends is checked against the true schema anyway.
 */
export function argumentsSchema(schema: JsonSchema): JsonSchema {
  if (schema["type"] === "object" && !unions.some((key) => key in schema)) return schema;
  let made = flat.get(schema);
  if (!made) {
    made = flatten(schema);
    flat.set(schema, made);
  }
  return made;
}

function flatten(schema: JsonSchema): JsonSchema {
  const own = Object.entries(schema).filter(([key]) => !unions.includes(key));
  const all = branchesOf(schema, "allOf").map(flatten);
  const some = [branchesOf(schema, "anyOf").map(flatten), branchesOf(schema, "oneOf").map(flatten)];
  const rest: JsonObject = Object.fromEntries(own);
  const parts = [rest, ...all, ...some.flat()];
  if (parts.length === 1) return { type: "object", ...rest };
  const required = new Set([rest, ...all].flatMap(requiredOf));
  for (const branches of some) {
    for (const name of branches.flatMap(requiredOf)) if (branches.every((branch) => requiredOf(branch).includes(name))) required.add(name);
  }
  const { additionalProperties: _, ...words } = rest;
  return { type: "object", ...words, properties: mergedProperties(parts), ...(required.size > 0 ? { required: [...required] } : {}) };
}

/** Each property once; where the branches differ, any of their schemas. */
function mergedProperties(parts: readonly JsonObject[]): JsonObject {
  const found = new Map<string, Map<string, Json>>();
  for (const part of parts) {
    for (const [name, value] of Object.entries(objectOf(part["properties"]))) {
      const kinds = found.get(name) ?? new Map<string, Json>();
      found.set(name, kinds.set(JSON.stringify(value), value));
    }
  }
  return Object.fromEntries(
    [...found].map(([name, kinds]) => [name, kinds.size === 1 ? ([...kinds.values()][0] ?? {}) : { anyOf: [...kinds.values()] }]),
  );
}

function branchesOf(schema: JsonSchema, key: string): readonly JsonSchema[] {
  const branches = schema[key];
  return Array.isArray(branches) ? branches.map(objectOf) : [];
}

function requiredOf(schema: JsonObject): readonly Json[] {
  const required = schema["required"];
  return Array.isArray(required) ? required : [];
}

function objectOf(value: Json | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
