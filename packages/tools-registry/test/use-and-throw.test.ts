import { createAgent, createSession, defineTool, execute, type Tool, textOf } from "@loopwright/core";
import { memoryStore, type ScriptedTurn, scripted } from "@loopwright/core/memory";
import { describe, expect, it } from "vitest";
import { opened, snippet, useAndThrow } from "../src/index.ts";

const parameters = { type: "object" } as const;
const words = (count: number): string => Array.from({ length: count }, (_, at) => `word${at}`).join(" ");

/** What the model read of the tool's result in its own run, and in the next one after a restart, and what people see. */
async function readOf(tool: Tool, args: object = {}) {
  const provider = scripted([{ calls: [{ name: tool.name, args }] }, { text: "One." }, { text: "Two." }] as readonly ScriptedTurn[]);
  const agent = createAgent({ name: "demo", provider, tools: [tool] });
  const store = memoryStore();
  const first = createSession({ agent, id: "s1", store });
  await execute(first, "a").result();
  await first[Symbol.asyncDispose]();
  const session = createSession({ agent, id: "s1", store });
  await execute(session, "b").result();
  const [now, later] = [1, 2].map((at) => {
    const result = provider.requests[at]?.messages.find(({ role }) => role === "tool_result");
    return result ? textOf(result) : "";
  });
  const shown = session.messages.find(({ role }) => role === "tool_result");
  return { now, later, people: shown ? textOf(shown) : "" };
}

const plain = defineTool({ name: "find", description: "Finds.", parameters, execute: (): unknown => words(300) });

describe("the results of a use-and-throw tool", () => {
  it("B56: are whole in their own run, and their first 100 words in the next run; people see all of them", async () => {
    const { now, later, people } = await readOf(useAndThrow(plain) as Tool);
    expect(now).toBe(words(300));
    expect(later).toBe(`${words(100)} ...`);
    expect(people).toBe(words(300));
  });

  it("B57: are read in an envelope where the user has seen them, and as a snippet of at most 100 words of it later", async () => {
    const { now = "", later = "" } = await readOf(useAndThrow(plain, { isShown: true }) as Tool);
    expect(now).toMatch(/^<already_shown_to_the_user>\n.*Do not repeat it\.\n/);
    expect(opened(now)).toBe(words(300));
    expect(later).toMatch(/^<already_shown_to_the_user>/);
    expect(opened(later)).toBe(`${words(100)} ...`);
  });

  it("B58: are whole for good where the call asks for it, and are the tool's own summary where it gives one", async () => {
    const keeping = useAndThrow(plain, { keepsWhole: (args) => (args as { keep?: boolean }).keep === true }) as Tool;
    expect((await readOf(keeping, { keep: true })).later).toBe(words(300));
    expect((await readOf(keeping, { keep: false })).later).toBe(`${words(100)} ...`);
    const own = defineTool({ ...plain, execute: () => ({ type: "complete", output: words(300), summary: "Words." }) as unknown });
    expect((await readOf(useAndThrow(own) as Tool)).later).toBe("Words.");
  });

  it.each<[string, () => unknown, string]>([
    [
      "deltas",
      async function* () {
        yield "seven ";
        yield { type: "delta", delta: "points" };
      },
      "seven points",
    ],
    [
      "a stream that returns its output",
      async function* () {
        yield { stream: "seven " };
        return { points: 7 };
      },
      '{"points":7}',
    ],
    [
      "a stream that completes",
      async function* () {
        yield { type: "complete", output: [{ type: "text", text: "seven points" }] };
      },
      "seven points",
    ],
    ["JSON", () => ({ points: 7 }), '{"points":7}'],
  ])("come from %s, too", async (_, run, text) => {
    const { later } = await readOf(useAndThrow(defineTool({ ...plain, execute: run }), { words: 5 }) as Tool);
    expect(later).toBe(text);
  });
});

it("a tool of the client, or no words at all, is refused", () => {
  const client = defineTool({ name: "choose", description: "Chooses.", parameters });
  expect(() => useAndThrow(client)).toThrow("the client runs it");
  expect(() => useAndThrow(plain, { words: 0 })).toThrow("`words` is 0");
});

it("a snippet of a short text is the text", () => {
  expect(snippet("a  b\nc")).toBe("a b c");
});
