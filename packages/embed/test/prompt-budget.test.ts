import { createAgent, createSession, execute, type PromptLayer, systemText } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import { describe, expect, it } from "vitest";
import { compose, fromStatic, fromTeam, type OverBudget, withBudget } from "../src/index.ts";

async function asked(prompt: readonly PromptLayer[]) {
  const provider = scripted(() => ({ text: "ok" }));
  const { status, error } = await execute(createSession({ agent: createAgent({ name: "helper", provider, prompt }) }), "Hi").result();
  return { status, error, system: provider.requests[0]?.system };
}

const paragraphs = (count: number): string => Array.from({ length: count }, (_, at) => `Rule ${at + 1}: be kind to people.`).join("\n\n");

describe("a prompt layer with a budget", () => {
  it("A17: is sent as it is where it fits, up to the last character", async () => {
    const text = "x".repeat(100);
    const { system } = await asked(compose(withBudget(fromStatic(text), { charactersMax: 100 })));
    expect(system).toEqual([{ text, source: "platform", cache: "stable" }]);
  });

  it("A17: is cut at a border of its text, reports it to the model, and keeps its place, its source and its cache mark", async () => {
    const cuts: OverBudget[] = [];
    const long = fromTeam(() => paragraphs(20));
    const prompt = compose(fromStatic("Be brief."), withBudget(long, { charactersMax: 200, onOver: (over) => cuts.push(over) }), "Last.");
    const { system } = await asked(prompt);
    expect(system?.map(({ source, cache }) => [source, cache])).toEqual([
      ["platform", "stable"],
      ["team", "session"],
      ["agent", "session"],
    ]);
    const team = system?.[1]?.text ?? "";
    expect(team).toBe(`${paragraphs(5)}\n\n[The rest of this part is left out: it is too long.]`);
    expect(team.length).toBeLessThanOrEqual(200);
    expect(cuts).toEqual([{ source: "team", characters: paragraphs(20).length, charactersMax: 200 }]);
  });

  it.each([
    ["lines", (at: number) => `line ${at}\n`],
    ["words", (at: number) => `word${at} `],
    ["one word", () => "abcdefghij"],
    ["characters of two units", () => "🌷"],
  ])("A17: of %s is never longer than its budget, and has no half of a character", (_, piece) => {
    for (let charactersMax = 100; charactersMax < 130; charactersMax++) {
      const { text } = withBudget(fromStatic(Array.from({ length: 200 }, (__, at) => piece(at)).join("")), { charactersMax });
      expect(String(text).length).toBeLessThanOrEqual(charactersMax);
      expect(String(text).isWellFormed()).toBe(true);
      expect(String(text).endsWith("it is too long.]")).toBe(true);
    }
  });

  it("A17: that refuses fails at once for a fixed text, and fails the run before the model is called for one that is built", async () => {
    const refusing = { charactersMax: 100, over: "refuse" } as const;
    expect(() => withBudget(fromStatic(paragraphs(9)), refusing)).toThrowError(
      expect.objectContaining({
        code: "CONFIG_INVALID",
        message: expect.stringContaining("`platform` has 250 characters; its budget is 100"),
      }),
    );
    const { status, error, system } = await asked(
      compose(
        withBudget(
          fromTeam(() => paragraphs(9)),
          refusing,
        ),
      ),
    );
    expect([status, error?.code, system]).toEqual(["error", "CONFIG_INVALID", undefined]);
    expect(
      await asked(
        compose(
          withBudget(
            fromTeam(() => "Short."),
            refusing,
          ),
        ),
      ),
    ).toMatchObject({ status: "completed" });
  });

  it("A17: is left out where its text is blank, and refuses a budget that is none", async () => {
    expect(
      systemText(
        (
          await asked(
            compose(
              "Be brief.",
              withBudget(
                fromTeam(() => undefined),
                { charactersMax: 100 },
              ),
            ),
          )
        ).system,
      ),
    ).toBe("Be brief.");
    for (const charactersMax of [0, 99, 100.5, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => withBudget(fromStatic("x"), { charactersMax })).toThrowError(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });
});
