import { describe, expect, it } from "vitest";
import { defineTool, execute } from "../src/index.ts";
import { characterCounter, type ScriptedTurn } from "../src/memory/index.ts";
import type { ContextEngine, CountedPart, Logger, ModelRequest, TokenCounter } from "../src/ports/index.ts";
import { type AgentParts, calm, world } from "./harness.ts";

const act = defineTool({ name: "act", description: "Acts.", parameters: { type: "object" }, execute: () => "x".repeat(3_000) });
const other = defineTool({ ...act, name: "other" });
const calling: ScriptedTurn = { calls: [{ name: "act" }] };

/** Notes each part that it is asked for, as text. */
function notedCounter(counter: TokenCounter = characterCounter()) {
  const asked: string[] = [];
  const noted: TokenCounter = {
    count(model, part) {
      asked.push(`${model} ${typeof part === "string" ? part : JSON.stringify(part)}`);
      return counter.count(model, part);
    },
  };
  return { counter: noted, asked };
}

/** A session whose context engine notes the sizes of the tool results of each request. */
function within(tokenCounter: TokenCounter | undefined, script: readonly ScriptedTurn[], options: AgentParts = {}) {
  const shown: (readonly (number | undefined)[])[] = [];
  const context: ContextEngine = {
    open: () => ({
      fit({ history: { messages }, sizes }) {
        shown.push(messages.filter(({ role }) => role === "tool_result").map((message) => sizes?.sizeOf(message)));
        return { messages };
      },
    }),
  };
  const session = tokenCounter ? { tokenCounter } : {};
  return { ...world(script, { tools: [act, other], context, ...options, session }), shown };
}

describe("a token counter", () => {
  it("is asked once for each message, tool and prompt over many turns, and in each turn for what is new alone", async () => {
    const { counter, asked } = notedCounter();
    const perTurn: number[] = [];
    const script = (_: ModelRequest, call: number): ScriptedTurn => {
      perTurn.push(asked.length);
      return call % 6 === 0 ? { text: `answer ${call}` } : { calls: [{ name: "act", args: { call } }] };
    };
    const { session } = world(script as never, { tools: [act, other], prompt: "Be brief.", session: { tokenCounter: counter } });
    for (const input of ["one", "two", "three"]) await execute(session, input).result();
    expect(new Set(asked).size).toBe(asked.length);
    expect(perTurn).toHaveLength(18);
    // The first turn: the prompt, two tools and the input. Later ones: a call and its result, or an answer and an input.
    expect(perTurn.map((count, turn) => count - (perTurn[turn - 1] ?? 0))).toEqual([4, ...Array.from({ length: 17 }, () => 2)]);
  });

  it("is asked again for another model, and for a prompt that has changed", async () => {
    const { counter, asked } = notedCounter();
    let turn = 0;
    const { session } = within(counter, [{ text: "a" }, { text: "b" }, { text: "c" }], {
      prompt: () => `Prompt ${Math.ceil(++turn / 2)}.`,
      tools: [],
    });
    await execute(session, "one").result();
    await execute(session, "two").result();
    await execute(session, "three", { model: "large" }).result();
    const prompts = asked.filter((part) => part.includes("Prompt"));
    expect(prompts).toEqual(["scripted-1 Prompt 1.", "large Prompt 2."]);
    expect(asked.filter((part) => part.includes('"one"'))).toHaveLength(2);
  });

  it("gives the sizes of a request to the context engine", async () => {
    const script = [calling, calling, { text: "There." }];
    const sizesWith = async (counter: TokenCounter | undefined): Promise<unknown> => {
      const { session, shown } = within(counter, script);
      await execute(session, "go").result();
      return shown[2];
    };
    expect(await sizesWith(undefined)).toEqual([undefined, undefined]);
    expect(await sizesWith(characterCounter({ charactersPerToken: 8 }))).toEqual([1_500, 1_500]);
    expect(await sizesWith(characterCounter({ charactersPerToken: 2 }))).toEqual([6_000, 6_000]);
  });

  it("counts inputs that join a run before the request that has them, also where it answers later", async () => {
    const { counter, asked } = notedCounter({ count: async (_, part) => Math.ceil(JSON.stringify(part).length / 4) });
    const { session, provider } = within(counter, [calling, { text: "There." }]);
    const result = execute(session, "go").result();
    await session.submit("and this", { mode: "steer" });
    expect((await result).text).toBe("There.");
    expect(asked.filter((part) => part.includes("and this"))).toHaveLength(1);
    expect(provider.requests.length).toBeGreaterThan(1);
  });
});

describe("a token counter that fails", () => {
  const failing: { readonly [how: string]: (part: CountedPart) => number | Promise<number> } = {
    throws: () => {
      throw new TypeError("no tokenizer");
    },
    rejects: async () => {
      throw new TypeError("no tokenizer");
    },
    "gives no number": () => Number.NaN,
  };

  it.each(Object.entries(failing))("when it %s: the parts are estimated, and the operator reads the first error", async (_, count) => {
    const errors: string[] = [];
    const logger: Logger = { log: (level, message) => void (level === "error" && errors.push(message)) };
    const made = within({ count: (_, part) => count(part) }, [calling, calling, { text: "There." }]);
    const session = made.again({ tokenCounter: { count: (_, part) => count(part) }, logger });
    expect((await execute(session, "go").result()).text).toBe("There.");
    expect(errors).toEqual(["The token counter failed."]);
    expect(made.shown[2]).toEqual([3_000, 3_000]);
  });

  it("when it does not answer: a part is estimated after five seconds", async () => {
    const { session, clock } = within({ count: () => new Promise(() => {}) }, [{ text: "There." }]);
    const result = execute(session, "go").result();
    await calm();
    clock.advance(5_000);
    expect((await result).text).toBe("There.");
  });
});
