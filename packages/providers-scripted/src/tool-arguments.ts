import type { Json, JsonObject, JsonSchema } from "@loopwright/core";
import type { Words } from "./words.ts";

const depthMax = 6;

/** Arguments that fit the schema: what the words give, else a default, an example or the smallest value. Optional properties are set only when the words give them. */
export function argumentsFor(schema: JsonSchema, words: Words): JsonObject {
  const value = valueFor(schema, { name: "", words, root: schema, depth: 0 });
  return isObject(value) ? value : {};
}

interface Place {
  /** The property's name, in lower case. */
  readonly name: string;
  readonly words: Words;
  readonly root: JsonSchema;
  readonly depth: number;
}

function valueFor(given: JsonSchema, place: Place): Json {
  const schema = resolved(given, place.root);
  const fixed = fixedValue(schema, place.words);
  if (fixed !== undefined) return fixed;
  if (place.depth > depthMax) return null;
  const found = evidence(schema, place);
  if (found !== undefined) return found;
  for (const known of [schema["default"], first(schema["examples"])]) if (known !== undefined) return known;
  switch (typeOf(schema)) {
    case "object":
      return objectFor(schema, place);
    case "array": {
      const items = schema["items"];
      const count = Math.max(1, numberOf(schema["minItems"]) ?? 1);
      return Array.from({ length: count }, () => (isObject(items) ? valueFor(items, { ...place, depth: place.depth + 1 }) : ""));
    }
    case "integer":
    case "number":
      return within(schema, 1);
    case "boolean":
      return false;
    case "null":
      return null;
    default:
      return textWithin(schema, fallbackText(schema, place));
  }
}

function objectFor(schema: JsonSchema, place: Place): JsonObject {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const object: { [key: string]: Json } = {};
  for (const [key, property] of Object.entries(properties)) {
    if (!isObject(property)) continue;
    const inner: Place = { ...place, name: key.toLowerCase(), depth: place.depth + 1 };
    if (required.includes(key)) object[key] = valueFor(property, inner);
    else {
      const found = evidence(resolved(property, place.root), inner);
      if (found !== undefined) object[key] = found;
    }
  }
  return object;
}

/** The value that the message gives for a property of this name and type. */
function evidence(schema: JsonSchema, { name, words }: Place): Json | undefined {
  const type = typeOf(schema);
  if (Array.isArray(schema["enum"])) return enumValue(schema["enum"], words);
  if (type === "integer" || type === "number") {
    const number = words.numbers[0];
    return number === undefined ? undefined : within(schema, number);
  }
  if (type !== "string") return undefined;
  const text = namedText(name, words);
  return text === undefined ? undefined : textWithin(schema, text);
}

function namedText(name: string, words: Words): string | undefined {
  if (/expr|formula|equation|calc/.test(name)) return words.expression;
  if (/zone|^tz$/.test(name)) return words.timeZone;
  if (/path|file|^name$/.test(name)) return words.fileName;
  if (/url|link|href/.test(name)) return words.url;
  if (/city|place|location/.test(name)) return words.place;
  return words.quoted === words.fileName ? undefined : words.quoted;
}

function fallbackText(schema: JsonSchema, { name, words }: Place): string {
  if (schema["format"] === "date-time") return "2026-01-01T00:00:00Z";
  if (schema["format"] === "date") return "2026-01-01";
  if (/expr|formula|equation|calc/.test(name)) return "6 * 7";
  if (/zone|^tz$/.test(name)) return "UTC";
  if (/path|file|^name$/.test(name)) return "offline-demo.md";
  if (/url|link|href/.test(name) || schema["format"] === "uri") return "https://example.com/";
  if (/city|place|location/.test(name)) return "Amsterdam";
  if (/content|body/.test(name)) return "# Offline demo\n\nThis text was written by the offline demo model.\n";
  return words.text.trim().slice(0, 200) || "demo";
}

function fixedValue(schema: JsonSchema, words: Words): Json | undefined {
  if (schema["const"] !== undefined) return schema["const"];
  const choices = schema["enum"];
  return Array.isArray(choices) ? (enumValue(choices, words) ?? choices[0]) : undefined;
}

function enumValue(choices: readonly Json[], words: Words): Json | undefined {
  return choices.find((choice) => typeof choice === "string" && words.words.includes(choice.toLowerCase()));
}

/** Follows a local reference, and takes the first choice that is not null. */
function resolved(schema: JsonSchema, root: JsonSchema): JsonSchema {
  let at = schema;
  for (let hops = 0; hops < depthMax; hops++) {
    const reference = at["$ref"];
    const choices = [at["anyOf"], at["oneOf"], at["allOf"]].find(Array.isArray);
    if (typeof reference === "string") at = lookUp(root, reference);
    else if (choices) at = choices.find((choice): choice is JsonObject => isObject(choice) && choice["type"] !== "null") ?? {};
    else return at;
  }
  return {};
}

function lookUp(root: JsonSchema, reference: string): JsonSchema {
  let at: Json = root;
  for (const key of reference.replace(/^#\/?/, "").split("/").filter(Boolean)) at = isObject(at) ? (at[key] ?? null) : null;
  return isObject(at) ? at : {};
}

function typeOf(schema: JsonSchema): string {
  const type = schema["type"];
  if (typeof type === "string") return type;
  const choice = Array.isArray(type) ? type.find((name) => name !== "null") : undefined;
  if (typeof choice === "string") return choice;
  return isObject(schema["properties"]) ? "object" : "string";
}

function within(schema: JsonSchema, wanted: number): number {
  const least = numberOf(schema["minimum"]) ?? (numberOf(schema["exclusiveMinimum"]) ?? Number.NEGATIVE_INFINITY - 1) + 1;
  const most = numberOf(schema["maximum"]) ?? (numberOf(schema["exclusiveMaximum"]) ?? Number.POSITIVE_INFINITY + 1) - 1;
  const number = Math.min(Math.max(wanted, least), most);
  return typeOf(schema) === "integer" ? Math.round(number) : number;
}

function textWithin(schema: JsonSchema, text: string): string {
  const shortest = numberOf(schema["minLength"]) ?? 0;
  return text.slice(0, numberOf(schema["maxLength"]) ?? text.length).padEnd(shortest, ".");
}

function first(value: Json | undefined): Json | undefined {
  return Array.isArray(value) ? value[0] : undefined;
}

function numberOf(value: Json | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
