import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { JsonObject, JsonSchema } from "../message/json.ts";
import { defineTool } from "./define-tool.ts";
import { validateArguments } from "./validate-arguments.ts";

const shaped = (parameters: JsonSchema) => defineTool({ name: "shaped", description: "Takes a shape.", parameters, execute: () => "" });

describe("arguments against a Standard Schema", () => {
  const schema = z.object({ city: z.string(), days: z.number().int().default(3), tags: z.array(z.object({ id: z.string() })).optional() });
  const tool = defineTool({ name: "weather", description: "Tells the weather.", parameters: schema, execute: () => "" });

  it("come back as the schema made them", async () => {
    expect(await validateArguments(tool, { city: "Oslo", other: 1 })).toEqual({ args: { city: "Oslo", days: 3 } });
  });

  it("that do not fit name each place and what is wrong there", async () => {
    const { problem } = await validateArguments(tool, { days: "two", tags: [{ id: "a" }, { id: 7 }] });
    expect(problem).toContain("The arguments do not fit the tool's schema:\n- `city`: ");
    expect(problem).toMatch(/- `days`: .*expected number/);
    expect(problem).toMatch(/- `tags\[1\]\.id`: .*expected string/);
  });

  it("are checked by asynchronous schemas too", async () => {
    const parameters = z.object({ name: z.string().refine(async (name) => name !== "taken", "is taken") });
    const asynchronous = defineTool({ name: "register", description: "Registers.", parameters, execute: () => "" });
    expect(await validateArguments(asynchronous, { name: "free" })).toEqual({ args: { name: "free" } });
    expect((await validateArguments(asynchronous, { name: "taken" })).problem).toContain("`name`: is taken");
  });

  it("with many issues list ten and count the rest", async () => {
    const many = defineTool({ name: "many", description: "Many.", parameters: z.object({ list: z.array(z.string()) }), execute: () => "" });
    const { problem } = await validateArguments(many, { list: Array.from({ length: 25 }, (_, at) => at) });
    expect(problem?.match(/`list\[\d+\]`/g)).toHaveLength(10);
    expect(problem).toContain("- and 15 more");
  });

  it("with endless issues are described in at most 2,000 characters", async () => {
    const loud = z.object({ text: z.string().refine(() => false, "x".repeat(5_000)) });
    const tool = defineTool({ name: "loud", description: "Loud.", parameters: loud, execute: () => "" });
    const { problem } = await validateArguments(tool, { text: "" });
    expect(problem).toHaveLength(2_000);
  });

  it("become a problem, not a crash, when the schema itself throws", async () => {
    const parameters = z.object({ a: z.any() }).refine(() => {
      throw new TypeError("secret inside");
    });
    const broken = defineTool({ name: "broken", description: "Broken.", parameters, execute: () => "" });
    const { problem } = await validateArguments(broken, { a: 1 });
    expect(problem).toBe("The arguments could not be checked: the schema of `broken` failed with TypeError.");
  });
});

describe("arguments against plain JSON Schema", () => {
  const tool = shaped({
    type: "object",
    required: ["path", "toString"],
    properties: {
      path: { type: "string" },
      count: { type: "integer" },
      mode: { enum: ["a", "b"] },
      maybe: { type: ["string", "null"] },
      fixed: { const: 1 },
      never: false,
      free: true,
      toString: {},
    },
    additionalProperties: false,
  });
  const good: JsonObject = { path: "x", toString: 1 };

  it("pass unchanged when their shape fits", async () => {
    const args = { ...good, count: 2, mode: "b", maybe: null, fixed: 1, free: { deep: [] } };
    expect(await validateArguments(tool, args)).toEqual({ args });
  });

  it.each([
    [{ toString: 1 }, "`path`: required, but missing"],
    [{ path: "x" }, "`toString`: required, but missing"],
    [{ ...good, path: 3 }, "`path`: expected string, received number"],
    [{ ...good, count: 2.5 }, "`count`: expected integer, received number"],
    [{ ...good, mode: "c" }, '`mode`: expected one of ["a","b"]'],
    [{ ...good, maybe: [] }, "`maybe`: expected string or null, received array"],
    [{ ...good, fixed: 2 }, "`fixed`: expected 1"],
    [{ ...good, never: 1 }, "`never`: not allowed"],
    [{ ...good, other: 1 }, "`other`: not a parameter of this tool"],
  ] satisfies [JsonObject, string][])("%j: %s", async (args, issue) => {
    expect((await validateArguments(tool, args)).problem).toBe(`The arguments do not fit the tool's schema:\n- ${issue}`);
  });

  it("may have any name unless the schema forbids it", async () => {
    expect(await validateArguments(shaped({ type: "object" }), { anything: 1 })).toEqual({ args: { anything: 1 } });
    const patterned = shaped({ type: "object", additionalProperties: false, patternProperties: { "^x": {} } });
    expect(await validateArguments(patterned, { xa: 1 })).toEqual({ args: { xa: 1 } });
  });
});
