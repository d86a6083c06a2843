import type { JsonSchema } from "@loopwright/core";
import { describe, expect, it } from "vitest";
import { isStrictSchema, parametersOf } from "./strict-schema.ts";

const closed = (properties: JsonSchema, more: JsonSchema = {}): JsonSchema => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});

describe("isStrictSchema", () => {
  it.each<[string, JsonSchema]>([
    ["a closed object", closed({ a: { type: "string" } })],
    ["an object without properties", closed({})],
    ["closed objects inside", closed({ a: closed({ b: { type: ["string", "null"] } }), c: { type: "array", items: closed({}) } })],
    ["anyOf and definitions", closed({ a: { anyOf: [{ type: "null" }, { $ref: "#/$defs/x" }] } }, { $defs: { x: closed({}) } })],
    ["an enum", closed({ a: { enum: ["x", "y"] } })],
  ])("takes %s", (_, schema) => {
    expect(isStrictSchema(schema)).toBe(true);
  });

  it.each<[string, JsonSchema]>([
    ["an optional property", closed({ a: { type: "string" } }, { required: [] })],
    ["an open object", { type: "object", properties: {}, required: [] }],
    ["an open object inside", closed({ a: { type: "object", properties: {} } })],
    ["a dictionary", closed({ a: { type: "object", additionalProperties: { type: "string" } } })],
    ["allOf", closed({ a: { allOf: [{ type: "string" }] } })],
    ["anything", closed({ a: {} })],
    ["a tuple", closed({ a: { type: "array", prefixItems: [{ type: "string" }] } })],
    ["a list at the root", { type: "array", items: { type: "string" } }],
    ["an open object in a definition", closed({}, { $defs: { x: { type: "object", properties: {} } } })],
  ])("refuses %s", (_, schema) => {
    expect(isStrictSchema(schema)).toBe(false);
  });
});

describe("parametersOf", () => {
  it("drops $schema and adds the properties that OpenAI demands", () => {
    expect(parametersOf({ $schema: "x", type: "object" })).toEqual({ type: "object", properties: {} });
  });
});
