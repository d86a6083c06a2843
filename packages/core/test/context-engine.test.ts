import { describe, expect, it } from "vitest";
import { execute, type Hooks, type Message, textOf } from "../src/index.ts";
import { scripted } from "../src/memory/index.ts";
import type { ContextCall, ContextEngine, FittedRequest } from "../src/ports/index.ts";
import { world } from "./harness.ts";

/** An engine that fits each call as given, and notes the calls of each context that it opened. */
function notedEngine(fit: (call: ContextCall) => FittedRequest | undefined = ({ history }) => history) {
  const opened: ContextCall[][] = [];
  const engine: ContextEngine = {
    open() {
      const calls: ContextCall[] = [];
      opened.push(calls);
      return {
        fit(call) {
          calls.push(call);
          return fit(call);
        },
      };
    },
  };
  return { engine, opened };
}

const user = (content: string): Message => ({ role: "user", content });

describe("a context engine", () => {
  it("is asked before each model call of a session, with the same growing list and its ids", async () => {
    const { engine, opened } = notedEngine();
    const { session, provider } = world([{ calls: [{ name: "nowhere" }] }, { text: "a" }, { text: "b" }], {
      context: engine,
      prompt: "Be brief.",
    });
    await execute(session, "one").result();
    await execute(session, "two").result();
    const [calls] = opened;
    expect([opened.length, calls?.length]).toEqual([1, 3]);
    expect(new Set(calls?.map(({ history }) => history.messages)).size).toBe(1);
    const { messages = [], ids = [] } = calls?.[2]?.history ?? {};
    expect(ids.map((id) => id !== undefined)).toEqual([true, true, true, true, true]);
    expect(session.messages.slice(0, 5)).toEqual(messages);
    expect(calls?.map(({ turn, attempt, request }) => [turn, attempt, request.system?.[0]?.text])).toEqual([
      [1, 1, "Be brief."],
      [2, 1, "Be brief."],
      [1, 1, "Be brief."],
    ]);
    expect(provider.requests).toHaveLength(3);
  });

  it("decides the messages, the prompt and the tools that are sent", async () => {
    const { engine } = notedEngine(() => ({
      messages: [{ role: "user", content: "short" }],
      system: [{ text: "Shorter.", source: "agent", cache: "stable" }],
      tools: [],
    }));
    const { session, provider } = world([{ text: "ok" }], { context: engine, prompt: "Be brief." });
    await execute(session, "long").result();
    expect(provider.requests[0]).toMatchObject({ messages: [{ content: "short" }], system: [{ text: "Shorter." }], tools: [] });
    expect(session.messages[0]).toMatchObject({ content: "long" });
  });

  it("has a context of its own for a conversation that a hook chose for one call", async () => {
    const { engine, opened } = notedEngine();
    const hooks = [{ name: "other", prepare: () => ({ messages: [{ role: "user", content: "chosen" }] as const }) }];
    const { session } = world([{ text: "ok" }], { context: engine, hooks });
    await execute(session, "given").result();
    expect(opened.map((calls) => calls.map(({ history }) => history.messages))).toEqual([[[{ role: "user", content: "chosen" }]]]);
  });

  it("keeps its context for what hooks add, counts it, and has the history between examples and reminders", async () => {
    const example = { role: "user", content: "Example?" } as const;
    const sample = { role: "assistant", content: [{ type: "text", text: "So." }], stopReason: "stop" } as const;
    const adding = (name: string): Hooks => ({
      name,
      prepare: () => ({ examples: [example, sample], inputPrefix: `${name}. `, reminders: [`Mind ${name}.`] }),
    });
    const { engine, opened } = notedEngine();
    const { session, provider } = world([{ text: "a" }, { text: "b" }], { context: engine, hooks: [adding("one"), adding("two")] });
    await execute(session, "first").result();
    await execute(session, "second").result();
    expect(opened).toHaveLength(1);
    expect(opened[0]?.map(({ history }) => history.messages === opened[0]?.[0]?.history.messages)).toEqual([true, true]);
    expect(opened[0]?.map(({ examples, behind }) => [examples.map(textOf), behind.map(textOf)])).toEqual(
      Array(2).fill([
        ["Example?", "So.", "Example?", "So."],
        ["one. two. ", "Mind one.", "Mind two."],
      ]),
    );
    expect(provider.requests.map(({ messages }) => messages.map(textOf))).toEqual([
      ["Example?", "So.", "Example?", "So.", "one. two. first", "Mind one.", "Mind two."],
      ["Example?", "So.", "Example?", "So.", "first", "a", "one. two. second", "Mind one.", "Mind two."],
    ]);
    expect(session.messages.map(textOf)).toEqual(["first", "a", "second", "b"]);
  });

  it("may leave examples out", async () => {
    const { engine } = notedEngine(({ history, examples }) => ({ messages: history.messages, examples: examples.slice(0, 1) }));
    const hooks = [{ name: "adding", prepare: () => ({ examples: [user("One?"), user("Two?")] }) }];
    const { session, provider } = world([{ text: "ok" }], { context: engine, hooks });
    await execute(session, "x").result();
    expect(provider.requests[0]?.messages.map(textOf)).toEqual(["One?", "x"]);
  });

  it("is given valid examples: a call without a result gets one, and what is no list of messages fails as the hook's error", async () => {
    const calling = { role: "assistant", content: [{ type: "tool_call", id: "c", callKey: "c", name: "look", args: {} }] } as const;
    const answered = async (examples: readonly Message[]) => {
      const { session, provider } = world([{ text: "ok" }], { hooks: [{ name: "adding", prepare: () => ({ examples }) }] });
      return { result: await execute(session, "x").result(), requests: provider.requests };
    };
    const { requests } = await answered([{ ...calling, stopReason: "tool_calls" }]);
    expect(requests[0]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool_result", "user"]);
    const broken = await answered(7 as never);
    expect(broken.result.error).toMatchObject({ code: "HOOK_FAILED", retryable: false });
    expect(broken.requests).toEqual([]);
  });

  it("is not needed for what hooks add to count: a request that is too long by a reminder is not sent", async () => {
    const hooks = [{ name: "adding", prepare: () => ({ reminders: ["word ".repeat(2_000)] }) }];
    const provider = scripted([{ text: "ok" }], { capabilities: { contextTokens: 100 } });
    const { session } = world([], { provider, hooks });
    expect((await execute(session, "x").result()).error?.code).toBe("CONTEXT_OVERFLOW");
    expect(provider.requests).toEqual([]);
  });

  it("leaves an input's prefix as a notice where the history has no input that begins with a text", async () => {
    const image = { type: "image", mediaType: "image/png", source: { data: "iVBORw0KGgo=" } } as const;
    const hooks = [{ name: "adding", prepare: () => ({ inputPrefix: "Passage." }) }];
    const { session, provider } = world([{ text: "ok" }], { hooks });
    await execute(session, { role: "user", content: [image] }).result();
    expect(provider.requests[0]?.messages).toEqual([
      { role: "user", content: [image] },
      { role: "notice", text: "Passage." },
    ]);
  });

  it("fails the call with CONTEXT_OVERFLOW where nothing fits, and without a request", async () => {
    const { session, provider } = world([], { context: notedEngine(() => undefined).engine });
    expect((await execute(session, "x").result()).error?.code).toBe("CONTEXT_OVERFLOW");
    expect(provider.requests).toHaveLength(0);
  });

  it("fails the call with what it throws", async () => {
    const throws = (): never => {
      throw new TypeError("broken");
    };
    const { session } = world([], { context: notedEngine(throws).engine });
    expect((await execute(session, "x").result()).error?.code).toBe("INTERNAL");
  });
});
