import { describe, expect, it } from "vitest";
import { defineTool, execute } from "../src/index.ts";
import { characterCounter, type ScriptedTurn } from "../src/memory/index.ts";
import type { CountedPart, Logger, ModelRequest, TokenCounter } from "../src/ports/index.ts";
import { lengthOf } from "../src/prompt/message-length.ts";
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

const within = (
  tokenCounter: TokenCounter | undefined,
  script: readonly ScriptedTurn[],
  options: AgentParts & { contextTokens?: number } = {},
) => {
  const { contextTokens, ...agent } = options;
  const made = world(script, { tools: [act, other], ...agent, session: tokenCounter ? { tokenCounter } : {} });
  if (contextTokens !== undefined) {
    const capabilities = made.provider.capabilities;
    Object.assign(made.provider, { capabilities: (model: string) => ({ ...capabilities(model), contextTokens }) });
  }
  return made;
};

const shownResults = ({ messages }: ModelRequest): readonly number[] =>
  messages.filter(({ role }) => role === "tool_result").map((message) => lengthOf(message));

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

  it("decides what is left out of a request in place of the estimate", async () => {
    const script = [calling, calling, { text: "There." }];
    const cutsWith = async (counter: TokenCounter | undefined): Promise<readonly number[]> => {
      const { session, provider } = within(counter, script, { contextTokens: 2_000 });
      await execute(session, "go").result();
      return shownResults(provider.requests[2] as ModelRequest);
    };
    expect(await cutsWith(undefined)).toEqual([3_000, 3_000]);
    expect(await cutsWith(characterCounter({ charactersPerToken: 8 }))).toEqual([3_000, 3_000]);
    expect((await cutsWith(characterCounter({ charactersPerToken: 2 })))[0]).toBeLessThan(2_100);
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

  it("leads another process to the same request", async () => {
    const counter = characterCounter({ charactersPerToken: 2 });
    const script = [calling, calling, { text: "a" }, { text: "b" }];
    const { session, provider, again } = within(counter, script, { contextTokens: 2_000 });
    await execute(session, "go").result();
    const second = again({ tokenCounter: counter });
    await execute(second, "and then?").result();
    const [before, after] = [provider.requests[2]?.messages ?? [], provider.requests[3]?.messages ?? []];
    expect(after.slice(0, before.length)).toEqual(before);
    expect(shownResults(provider.requests[3] as ModelRequest)[0]).toBeLessThan(2_100);
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
    const provider = { contextTokens: 1_200 };
    const made = within({ count: (_, part) => count(part) }, [calling, calling, { text: "There." }], provider);
    const session = made.again({ tokenCounter: { count: (_, part) => count(part) }, logger });
    expect((await execute(session, "go").result()).text).toBe("There.");
    expect(errors).toEqual(["The token counter failed."]);
    expect(shownResults(made.provider.requests[2] as ModelRequest)[0]).toBeLessThan(2_100);
  });

  it("when it does not answer: a part is estimated after five seconds", async () => {
    const { session, clock } = within({ count: () => new Promise(() => {}) }, [{ text: "There." }]);
    const result = execute(session, "go").result();
    await calm();
    clock.advance(5_000);
    expect((await result).text).toBe("There.");
  });
});
