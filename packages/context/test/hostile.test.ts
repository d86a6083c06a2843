import { defineTool, execute, type Message, textOf } from "@loopwright/core";
import type { ModelRequest } from "@loopwright/core/ports";
import { describe, expect, it } from "vitest";
import { contextEngine } from "../src/index.ts";
import { world } from "./harness.ts";

const sizeOf = ({ messages }: ModelRequest): number => messages.reduce((sum, one) => sum + textOf(one).length, 0);
const logged = () => {
  const lines: { readonly level: string; readonly message: string; readonly fields: unknown }[] = [];
  return { lines, logger: { log: (level: string, message: string, fields?: unknown) => void lines.push({ level, message, fields }) } };
};

describe("a context engine under hostile input", () => {
  it.each([
    ["one message of four million characters", "x".repeat(4_000_000)],
    ["one of half a million signs of four bytes", "\u{1f331}".repeat(500_000)],
    ["one of nothing but line breaks", `x${"\n".repeat(2_000_000)}`],
    ["one of lone halves of surrogate pairs", "\ud83c".repeat(300_000)],
  ])("sends %s within the window", async (_, input) => {
    const { session, provider } = world([{ text: "ok" }], { contextTokens: 4_000 });
    expect((await execute(session, input).result()).status).toBe("completed");
    const [request] = provider.requests as readonly ModelRequest[];
    expect(sizeOf(request as ModelRequest)).toBeLessThan(16_000);
    expect(JSON.stringify(request)).toBe(JSON.stringify(request).toWellFormed());
  });

  it("sends a hundred large results of one turn within the window", async () => {
    const act = defineTool({ name: "act", description: "Acts.", parameters: { type: "object" }, execute: () => "y".repeat(90_000) });
    const calls = Array.from({ length: 100 }, () => ({ name: "act" }));
    const { session, provider } = world([{ calls }, { text: "ok" }], { tools: [act], contextTokens: 100_000 });
    expect((await execute(session, "go").result()).status).toBe("completed");
    expect(sizeOf(provider.requests[1] as ModelRequest)).toBeLessThan(400_000);
  });

  it.each([0, 1])("refuses a limit of %d tokens with CONTEXT_OVERFLOW, before a request", async (limit) => {
    const { session, provider } = world([], { contextTokens: 4_000, context: contextEngine({ limitTokens: () => limit }) });
    expect((await execute(session, "go").result()).error?.code).toBe("CONTEXT_OVERFLOW");
    expect(provider.requests).toHaveLength(0);
  });

  it.each([
    ["NaN", () => Number.NaN],
    ["a negative number", () => -5],
    ["a text", () => "1000" as never],
    [
      "an error",
      () => {
        throw new Error("plans are down");
      },
    ],
  ])("fails the call with HOOK_FAILED where `limitTokens` gives %s, and reports it once with its cause", async (_, limitTokens) => {
    const { lines, logger } = logged();
    const made = world([], { contextTokens: 4_000, context: contextEngine({ limitTokens }), session: { logger: logger as never } });
    const { error } = await execute(made.session, "go").result();
    expect(error).toMatchObject({ code: "HOOK_FAILED", message: expect.stringContaining("`limitTokens` of the context engine") });
    expect(error?.message).not.toContain("plans are down");
    expect(made.provider.requests).toHaveLength(0);
    const errors = lines.filter(({ level }) => level === "error");
    expect(errors).toHaveLength(1);
    expect(JSON.stringify(errors)).toContain("limitTokens");
  });

  it("fails the call with HOOK_FAILED where `pin` throws", async () => {
    const { lines, logger } = logged();
    const pin = (_: Message): boolean => {
      throw new Error("secret");
    };
    const made = world(() => ({ text: "word ".repeat(200) }), {
      contextTokens: 900,
      context: contextEngine({ compaction: { pin } }),
      session: { logger: logger as never },
    });
    const codes: (string | undefined)[] = [];
    for (let input = 0; input < 12 && codes.at(-1) === undefined; input++)
      codes.push((await execute(made.session, `Question ${input}.`).result()).error?.code);
    expect(codes.at(-1)).toBe("HOOK_FAILED");
    expect(lines.filter(({ level }) => level === "error")).toHaveLength(1);
    expect(JSON.stringify(lines)).toContain("secret");
  });

  it.each([0, Number.NaN, -1])(
    "takes a window of %d tokens, which a provider names by mistake, for an unknown one",
    async (contextTokens) => {
      const { session } = world([{ text: "ok" }], { contextTokens });
      expect((await execute(session, "go").result()).text).toBe("ok");
    },
  );

  it.each([
    { limitTokens: Number.NaN },
    { limitTokens: "1000" as never },
    { budgets: { results: Number.NaN } },
    { compaction: { at: Number.NaN } },
  ])("refuses the options %j", (options) => {
    expect(() => contextEngine(options)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });
});
