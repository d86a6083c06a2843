import type { Json, JsonObject, JsonSchema } from "@loopwright/core";
import type { Dice } from "../world/dice.ts";

/** Nesting below which only simple values are made. */
const depthMax = 4;

/** Arguments that a JSON Schema lets through, as far as it is simple: objects, arrays, texts, numbers, enumerations. */
export function argumentsOf(schema: JsonSchema, dice: Dice): JsonObject {
  const value = sampleOf(schema, dice, 0);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

function sampleOf(schema: JsonSchema, dice: Dice, depth: number): Json {
  if ("const" in schema) return schema["const"] as Json;
  if (Array.isArray(schema["enum"])) return dice.oneOf(schema["enum"] as readonly Json[]);
  const ways = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(ways)) return sampleOf(dice.oneOf(ways as readonly JsonSchema[]), dice, depth + 1);
  const type: unknown = Array.isArray(schema["type"]) ? schema["type"][0] : schema["type"];
  switch (type) {
    case "object":
      return depth > depthMax ? {} : objectOf(schema, dice, depth);
    case "array":
      return depth > depthMax
        ? []
        : Array.from({ length: countOf(schema, dice) }, () => sampleOf((schema["items"] ?? {}) as JsonSchema, dice, depth + 1));
    case "integer":
    case "number": {
      const least = Number(schema["minimum"] ?? schema["exclusiveMinimum"] ?? 0);
      return Math.min(Number(schema["maximum"] ?? Number.POSITIVE_INFINITY), Math.ceil(least) + 1 + dice.below(20));
    }
    case "boolean":
      return dice.chance(0.5);
    case "null":
      return null;
    default:
      return textOf(schema, dice);
  }
}

function objectOf(schema: JsonSchema, dice: Dice, depth: number): JsonObject {
  const properties = Object.entries((schema["properties"] ?? {}) as { readonly [name: string]: JsonSchema });
  const required = new Set((schema["required"] ?? []) as readonly string[]);
  const chosen = properties.filter(([name]) => required.has(name) || dice.chance(0.5));
  return Object.fromEntries(chosen.map(([name, property]) => [name, sampleOf(property, dice, depth + 1)]));
}

const countOf = (schema: JsonSchema, dice: Dice): number => Math.max(Number(schema["minItems"] ?? 0), dice.below(3));

function textOf(schema: JsonSchema, dice: Dice): string {
  const text = dice.oneOf(["alpha", "beta", "gamma", "delta"]);
  return text.padEnd(Number(schema["minLength"] ?? 0), "x").slice(0, Number(schema["maxLength"] ?? 100));
}
