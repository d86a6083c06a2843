import { describe, expect, it } from "vitest";
import { z } from "zod";
import { isAgentError } from "../errors.ts";
import { defineTool } from "./define-tool.ts";
import { type AnyTool, createToolRegistry, policyOf, specOf } from "./tool-registry.ts";

const add = defineTool({
  name: "add",
  description: "Adds.",
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});
const ask = defineTool({ name: "ask", description: "Asks the person.", parameters: { type: "object" } });

function codeAndText(run: () => unknown): { code: string; text: string } {
  try {
    run();
  } catch (error) {
    if (isAgentError(error)) return { code: error.code, text: error.message };
  }
  return { code: "none", text: "" };
}

describe("the tool registry", () => {
  it("finds tools by name and keeps their order", () => {
    const registry = createToolRegistry([add, ask]);
    expect(registry.get("ask")).toBe(ask);
    expect(registry.get("toString")).toBeUndefined();
    expect(registry.tools.map((tool) => tool.name)).toEqual(["add", "ask"]);
    expect(registry.specs(new Set(["ask"])).map((spec) => spec.name)).toEqual(["ask"]);
  });

  it("makes the JSON Schema of a tool once, also over several registries", () => {
    const first = createToolRegistry([add]).specs();
    const second = createToolRegistry([ask, add]).specs();
    expect(second[1]).toBe(first[0]);
    expect(specOf(add)).toBe(first[0]);
    expect(first[0]?.parameters).toMatchObject({ type: "object", required: ["a", "b"], properties: { a: { type: "number" } } });
  });

  it("refuses a duplicate name, and names the two tools that have it", () => {
    const twin = defineTool({ name: "add", description: "Adds a row.", parameters: { type: "object" }, execute: () => "" });
    const { code, text } = codeAndText(() => createToolRegistry([add, ask, twin]));
    expect(code).toBe("CONFIG_INVALID");
    expect(text).toContain('`add`: tool 1 ("Adds.") and tool 3 ("Adds a row.")');
  });

  it.each(["", "with space", "ä", "a".repeat(65), "__proto__", "constructor"])("refuses the name %j", (name) => {
    const bad: AnyTool = { name, description: "x", parameters: { type: "object" }, execute: () => "" };
    expect(codeAndText(() => createToolRegistry([bad])).code).toBe("CONFIG_INVALID");
  });

  it("refuses a schema whose root is no object", () => {
    const bad: AnyTool = { name: "bad", description: "x", parameters: { type: "string" } };
    expect(codeAndText(() => createToolRegistry([bad])).code).toBe("CONFIG_INVALID");
  });

  it("fills in the defaults of a server tool: once, 120 seconds, counted, in parallel", () => {
    const policy = { home: "server", replay: "once", lookup: false, sequential: false, timeoutMs: 120_000, counts: true };
    expect(policyOf(add)).toEqual(policy);
  });

  it("takes a tool without execute, or with client visibility, as a client tool without a time limit", () => {
    expect(policyOf(ask)).toMatchObject({ home: "client", timeoutMs: 0 });
    expect(policyOf({ ...add, visibility: "client" })).toMatchObject({ home: "client", timeoutMs: 0 });
    expect(policyOf({ ...ask, timeoutMs: 5 })).toMatchObject({ home: "client", timeoutMs: 5 });
  });

  it("carries what a tool declares", () => {
    const declared: AnyTool = {
      ...add,
      replay: "idempotent",
      lookup: async () => undefined,
      sequential: true,
      timeoutMs: 7,
      counts: false,
    };
    const policy = { home: "server", replay: "idempotent", lookup: true, sequential: true, timeoutMs: 7, counts: false };
    expect(createToolRegistry([declared]).policies()).toEqual({ add: policy });
  });
});
