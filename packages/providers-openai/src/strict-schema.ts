import type { Json, JsonObject, JsonSchema } from "@loopwright/core";

const strictOf = new WeakMap<JsonSchema, boolean>();
const depthMax = 32;

/**
 * Whether OpenAI would take a schema as `strict`: every object closed with all its properties required, and no keyword that
 * strict mode refuses. Others are sent without `strict`, because the answer to a wrong claim is a 400.
 * @see https://platform.openai.com/docs/guides/structured-outputs#supported-schemas (2026-11-21)
 */
export function isStrictSchema(schema: JsonSchema): boolean {
  let strict = strictOf.get(schema);
  if (strict === undefined) {
    strict = schema["type"] === "object" && schema["anyOf"] === undefined && isStrict(schema, 0);
    strictOf.set(schema, strict);
  }
  return strict;
}

const refused = [
  "allOf",
  "oneOf",
  "not",
  "if",
  "then",
  "else",
  "dependentRequired",
  "dependentSchemas",
  "patternProperties",
  "propertyNames",
];

function isStrict(value: Json | undefined, depth: number): boolean {
  if (!isObject(value)) return false;
  if (depth > depthMax || refused.some((keyword) => keyword in value)) return false;
  const variants = value["anyOf"];
  if (variants !== undefined && !(isArray(variants) && variants.every((variant) => isStrict(variant, depth + 1)))) return false;
  for (const holder of [value["$defs"], value["definitions"]]) {
    if (holder !== undefined && !(isObject(holder) && Object.values(holder).every((each) => isStrict(each, depth + 1)))) return false;
  }
  if (value["items"] !== undefined && !isStrict(value["items"], depth + 1)) return false;
  if (value["prefixItems"] !== undefined) return false;
  const isObjectSchema = value["type"] === "object" || (isArray(value["type"]) && value["type"].includes("object"));
  if (!isObjectSchema) return value["type"] !== undefined || ["anyOf", "$ref", "enum", "const"].some((keyword) => keyword in value);
  const properties = value["properties"];
  const required = value["required"];
  if (!isObject(properties) || value["additionalProperties"] !== false || !isArray(required)) return false;
  const names = Object.keys(properties);
  return names.every((name) => required.includes(name) && isStrict(properties[name], depth + 1)) && required.length === names.length;
}

/** The schema of a tool as the wire wants it: without `$schema`, with `properties` even where there are none. */
export function parametersOf(schema: JsonSchema): JsonObject {
  if (schema["$schema"] === undefined && schema["properties"] !== undefined && schema["type"] === "object") return schema;
  const { $schema: _, ...rest } = schema;
  return { ...rest, type: "object", properties: rest["properties"] ?? {} };
}

/** The schema of an answer: without `$schema`. */
export function outputSchemaOf(schema: JsonSchema): JsonObject {
  if (schema["$schema"] === undefined) return schema;
  const { $schema: _, ...rest } = schema;
  return rest;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
