import type { JsonSchemaType, JsonSchemaValidator, jsonSchemaValidator } from "@modelcontextprotocol/client";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/client/validators/ajv";

/** Members of a schema whose values are schemas by names that are free to choose. */
const maps = new Set(["properties", "$defs", "definitions", "dependentSchemas"]);
/** Regular expressions, which a server could make run for ever. */
const patterns = new Set(["pattern", "patternProperties"]);
/** Values that are data and no schema. */
const data = new Set(["const", "enum", "default", "examples"]);

/**
 * Checks values against schemas of servers, without their regular expressions. It makes a new checker each time, because a kept one would keep each
 * schema that ever came.
 */
export const looseValidator: jsonSchemaValidator = {
  getValidator<T>(schema: JsonSchemaType): JsonSchemaValidator<T> {
    return new AjvJsonSchemaValidator().getValidator<T>(withoutPatterns(schema) as JsonSchemaType);
  },
};

function withoutPatterns(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutPatterns);
  if (typeof schema !== "object" || schema === null) return schema;
  // A rule against other names would refuse those that a removed pattern allows.
  const isOpen = "patternProperties" in schema;
  const members = Object.entries(schema).flatMap(([name, value]): [string, unknown][] => {
    if (patterns.has(name) || (isOpen && (name === "additionalProperties" || name === "unevaluatedProperties"))) return [];
    if (data.has(name)) return [[name, value]];
    if (maps.has(name) && typeof value === "object" && value !== null)
      return [[name, Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutPatterns(inner)]))]];
    return [[name, withoutPatterns(value)]];
  });
  return Object.fromEntries(members);
}
